// Plays the story into a session, event by event.

import { isStatepadError, type Session, type SessionKey, type SessionService } from 'statepad';
import { BEGINNING, SCENES, STORY } from './story.js';

/** The part of an event's metadata that tells its scene. */
const SCENE = 'scene';

/** A new session of the story. Throws as `createSession`. */
export async function newStory(service: SessionService): Promise<SessionKey> {
  const sessionId = `trip-lisbon-${crypto.randomUUID().slice(0, 6)}`;
  await service.createSession({ ...STORY, sessionId, state: BEGINNING });
  return { ...STORY, sessionId };
}

/** True for a session of the story. */
export function isStory({ appName, id }: Session): boolean {
  return appName === STORY.appName && id.startsWith('trip-lisbon-');
}

/** The number of scenes that a session has: its log alone tells it, so that it goes on after a reload. */
function scenesIn({ events }: Session): number {
  return events.filter(({ customMetadata }) => customMetadata?.[SCENE] !== undefined).length;
}

/** Plays the story: `changed` is called when it begins and ends. */
export class Player {
  readonly #service: SessionService;
  readonly #changed: () => void;
  readonly #pace: number;
  #playing: AbortController | undefined;

  /** `pace` is the factor by which it plays faster than the scenes say. */
  constructor(service: SessionService, changed: () => void, pace = 1) {
    this.#service = service;
    this.#changed = changed;
    this.#pace = pace;
  }

  /** True while it plays. */
  get isPlaying(): boolean {
    return this.#playing !== undefined;
  }

  /** Stops before the next event. */
  pause(): void {
    this.#playing?.abort();
    this.#playing = undefined;
    this.#changed();
  }

  /**
   * Plays a session to its end, from where its log ends. Another tab may play it, too: each scene has an id of its
   * own, and is there once. Throws as `appendEvent`.
   */
  async play(key: SessionKey): Promise<void> {
    this.pause();
    const playing = new AbortController();
    this.#playing = playing;
    this.#changed();
    try {
      while (!playing.signal.aborted && (await this.#playNext(key, playing.signal)));
    } finally {
      if (this.#playing === playing) {
        this.pause();
      }
    }
  }

  /** Plays the next scene. Resolves to `false` when there is none, or nobody wants it any more. */
  async #playNext(key: SessionKey, signal: AbortSignal): Promise<boolean> {
    const session = await this.#service.getSession(key);
    const number = session === undefined ? SCENES.length : scenesIn(session);
    const scene = SCENES[number];
    if (session === undefined || scene === undefined || !(await passed(scene.pause / this.#pace, signal))) {
      return false;
    }
    const { customMetadata, ...event } = scene.event;
    try {
      await this.#service.appendEvent({
        session,
        event: { ...event, id: `scene-${number + 1}`, customMetadata: { ...customMetadata, [SCENE]: number + 1 } },
      });
    } catch (error) {
      // Another tab has played it meanwhile.
      if (!(isStatepadError(error) && error.code === 'EVENT_ID_CONFLICT')) {
        throw error;
      }
    }
    return true;
  }
}

/** True when the time has passed; false when the signal has ended it. */
async function passed(time: number, signal: AbortSignal): Promise<boolean> {
  return await new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve(true);
    }, time);
    signal.addEventListener('abort', end, { once: true });
  });
}
