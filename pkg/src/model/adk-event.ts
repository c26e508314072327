/** The mark of ADK's events: the one symbol that a copy keeps. */
export const ADK_EVENT = Symbol.for('google.adk.event');
