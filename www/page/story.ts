// The conversation that the page plays: a trip that two agents book, with a tool that fails once.

import type { EventInit, Part } from 'statepad';

/** The app and the user of the story. */
export const STORY = { appName: 'demo', userId: 'ana' } as const;

/** The instruction of its agents. */
export const INSTRUCTION = `You book trips for {user:name?} from {user:home?}.
Trip: {city?} from {date?}, {nights?} nights, party of {party_size?}.
Hotel: {hotel.name?} at {hotel.price?} {app:currency}.
Booked: {booked?}. Plan of this turn: {temp:plan?}
Answer as JSON, like {"city": "Porto", "nights": 2}.`;

/** The state that a session of the story begins with. */
export const BEGINNING = { 'app:currency': 'EUR', 'user:home': 'Berlin' } as const;

/** One event of the story, and the pause before it. */
export interface Scene {
  /** The time that the agents, or the reader, need for it, in milliseconds. */
  readonly pause: number;
  readonly event: EventInit;
}

const text = (...texts: readonly string[]): Part[] => texts.map((each) => ({ text: each }));
const tokens = (prompt: number, answer: number): Pick<EventInit, 'usageMetadata'> => ({
  usageMetadata: { promptTokenCount: prompt, candidatesTokenCount: answer, totalTokenCount: prompt + answer },
});

const SEARCH = { city: 'Lisbon', from: '2031-05-03', nights: 4, lift: true };
const HOTELS = [
  { name: 'Miradouro', price: 412, lift: true, rooms: 1 },
  { name: 'Alfama Inn', price: 380, lift: false, rooms: 6 },
];
const ANSWER = `Two hotels are free:

| hotel | four nights | lift |
|---|---|---|
| **Miradouro** | 412 € | yes |
| Alfama Inn | 380 € | no |

The *Miradouro* has the lift, and one room left. Shall I book it?`;

/** All scenes. An event belongs to the invocation that its `invocationId` names. */
export const SCENES: readonly Scene[] = [
  {
    pause: 500,
    event: {
      author: 'user',
      invocationId: 'story-1',
      content: { role: 'user', parts: text('Hi, Ana here! My mother and I want to see Lisbon in May.') },
      actions: { stateDelta: { 'user:name': 'Ana', city: 'Lisbon', party_size: 2 } },
    },
  },
  {
    pause: 1200,
    event: {
      author: 'planner',
      invocationId: 'story-1',
      content: {
        role: 'model',
        parts: [
          { text: 'City and month are known. The dates and the nights are missing.', thought: true },
          ...text('Lovely, Ana! On which day, and for how many nights?'),
        ],
      },
      ...tokens(184, 32),
    },
  },
  {
    pause: 1500,
    event: {
      author: 'user',
      invocationId: 'story-2',
      content: { role: 'user', parts: text('From the 3rd, four nights. The hotel needs a lift.') },
      actions: { stateDelta: { date: '2031-05-03', nights: 4, hotel: { lift: true } } },
    },
  },
  {
    pause: 1000,
    event: {
      author: 'planner',
      invocationId: 'story-2',
      content: { role: 'model', parts: text('All is known. The booker takes over.') },
      actions: { transferToAgent: 'booker' },
      customMetadata: { tempKeys: ['plan'] },
      ...tokens(251, 14),
    },
  },
  {
    pause: 800,
    event: {
      author: 'booker',
      invocationId: 'story-2',
      content: { role: 'model', parts: [{ functionCall: { id: 'call-1', name: 'find_hotels', args: SEARCH } }] },
      ...tokens(312, 27),
    },
  },
  {
    pause: 1600,
    event: {
      author: 'booker',
      invocationId: 'story-2',
      content: {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'call-1',
              name: 'find_hotels',
              response: { error: 'the hotel service did not answer within 5 s' },
            },
          },
        ],
      },
    },
  },
  {
    pause: 900,
    event: {
      author: 'booker',
      invocationId: 'story-2',
      content: { role: 'model', parts: [{ functionCall: { id: 'call-2', name: 'find_hotels', args: SEARCH } }] },
      ...tokens(366, 27),
    },
  },
  {
    pause: 1100,
    event: {
      author: 'booker',
      invocationId: 'story-2',
      content: {
        role: 'user',
        parts: [{ functionResponse: { id: 'call-2', name: 'find_hotels', response: { hotels: HOTELS } } }],
      },
      actions: {
        stateDelta: { hotel: { lift: true, name: 'Miradouro', price: 412 }, 'app:rooms_left': { Miradouro: 1 } },
      },
    },
  },
  {
    pause: 1000,
    event: {
      author: 'booker',
      invocationId: 'story-2',
      content: { role: 'model', parts: text(ANSWER) },
      ...tokens(498, 71),
    },
  },
  {
    pause: 2000,
    event: {
      author: 'user',
      invocationId: 'story-3',
      content: { role: 'user', parts: text('Yes, book it. Our cost code is {TRAVEL-7}.') },
      actions: { stateDelta: { cost_code: '{TRAVEL-7}' } },
    },
  },
  {
    pause: 900,
    event: {
      author: 'booker',
      invocationId: 'story-3',
      content: {
        role: 'model',
        parts: [{ functionCall: { id: 'call-3', name: 'book', args: { hotel: 'Miradouro', code: '{TRAVEL-7}' } } }],
      },
      ...tokens(540, 22),
    },
  },
  {
    pause: 1200,
    event: {
      author: 'booker',
      invocationId: 'story-3',
      content: {
        role: 'user',
        parts: [{ functionResponse: { id: 'call-3', name: 'book', response: { confirmation: 'MIR-2031' } } }],
      },
      actions: {
        stateDelta: {
          booked: true,
          confirmation: 'MIR-2031',
          'user:last_trip': 'Lisbon',
          'app:rooms_left': { Miradouro: 0 },
        },
      },
    },
  },
  {
    pause: 900,
    event: {
      author: 'booker',
      invocationId: 'story-3',
      content: {
        role: 'model',
        parts: text('Booked: four nights at the Miradouro. Your confirmation is `MIR-2031`.'),
      },
      ...tokens(581, 24),
    },
  },
];
