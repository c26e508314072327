/**
 * The agents: a service desk as ADK would build it.
 *
 *     desk (SequentialAgent)
 *     ├─ intake (ParallelAgent)
 *     │  ├─ clerk      writes down what the customer said, with the tool `note`   -> temp:noted
 *     │  └─ listener   says what kind of message it is                            -> temp:tone
 *     ├─ planner       reads {temp:tone} and {temp:noted} in its instruction      -> temp:plan
 *     └─ agent         reads {temp:plan}, answers, may `note` too                 -> desk.last_reply
 */
import { FunctionTool, LlmAgent, ParallelAgent, SequentialAgent } from '@google/adk';
import { DELETED, instruction } from 'statepad/adk';

/** The session keys that the agents keep for themselves; a conversation may not use them. */
export const OWN_KEYS = new Set(['desk.last_reply']);

/** @typedef {'clerk' | 'listener' | 'planner' | 'agent'} Role */

/** The instruction of `agent` when the conversation brings no `instruction` of its own. */
const DEFAULT_TEMPLATE = 'You answer for the desk. Plan: {temp:plan}\nYour last words were: {desk.last_reply?}';

/** Writes the turn's changes through the tool's context: values with `update`, deletions with DELETED. */
const note = new FunctionTool({
  name: 'note',
  description: 'Writes values into the state under their keys and deletes keys from it.',
  execute(input, context) {
    const { set = {}, remove = [] } = /** @type {{ set?: Record<string, unknown>, remove?: string[] }} */ (input);
    if (context === undefined) throw new Error('note runs inside an agent');
    context.state.update(set);
    for (const key of remove) context.state.set(key, DELETED);
    return { set: Object.keys(set).length, removed: remove.length };
  },
});

/**
 * Builds the tree for one conversation.
 *
 * @param {(role: Role) => import('@google/adk').BaseLlm} model makes the model of an agent
 * @param {string} [template] the instruction of `agent`
 */
export function buildDesk(model, template = DEFAULT_TEMPLATE) {
  const alone = { disallowTransferToParent: true, disallowTransferToPeers: true };
  /** @type {{ includeContents: 'none' }} */
  const thisTurn = { includeContents: 'none' };

  const clerk = new LlmAgent({
    ...alone,
    ...thisTurn,
    name: 'clerk',
    model: model('clerk'),
    tools: [note],
    outputKey: 'temp:noted',
    instruction: 'Write down what the customer said, then name the keys.',
  });
  const listener = new LlmAgent({
    ...alone,
    ...thisTurn,
    name: 'listener',
    model: model('listener'),
    outputKey: 'temp:tone',
    instruction: 'Say in three words what the customer does.',
  });
  const planner = new LlmAgent({
    ...alone,
    ...thisTurn,
    name: 'planner',
    model: model('planner'),
    outputKey: 'temp:plan',
    instruction: instruction('The customer {temp:tone}. Noted: {temp:noted}. What must the answer do?'),
  });
  const agent = new LlmAgent({
    ...alone,
    name: 'agent',
    model: model('agent'),
    tools: [note],
    outputKey: 'desk.last_reply',
    instruction: instruction(template),
  });

  return new SequentialAgent({
    name: 'desk',
    subAgents: [new ParallelAgent({ name: 'intake', subAgents: [clerk, listener] }), planner, agent],
  });
}
