/** Contexts of an invocation as plain JavaScript would do them: pending writes that all contexts see. */

import { admission } from './admission.mjs';
import { rendererOf } from './template.mjs';

const { admitDelta, put } = admission;

/** A context. Its `pending` writes are shared with its children, and go into the next event of their owner. */
export class Invocation {
  #service;

  constructor(service, session, author, pending = new Map(), invocationId = crypto.randomUUID()) {
    this.#service = service;
    this.session = session;
    this.author = author;
    this.pending = pending;
    this.invocationId = invocationId;
    this.state = {
      get: (key) => (pending.has(key) ? pending.get(key).value : session.state[key]),
      set: (key, value) => {
        const { delta } = admitDelta({ [key]: value }, 'state');
        for (const name of Object.keys(delta)) pending.set(name, { value: delta[name], owner: this });
      },
    };
  }

  child(author) {
    return new Invocation(this.#service, this.session, author, this.pending, this.invocationId);
  }

  render(text) {
    const { session, pending } = this;
    const state = { ...session.state };
    for (const [key, { value }] of pending) put(state, key, value);
    return rendererOf(text)(state);
  }

  async append(event) {
    const stateDelta = {};
    for (const [key, { value, owner }] of this.pending) {
      if (owner === this) put(stateDelta, key, value);
    }
    const { author, invocationId, session } = this;
    const actions = { ...event.actions, stateDelta: { ...event.actions?.stateDelta, ...stateDelta } };
    const appended = await this.#service.appendEvent({ session, event: { author, ...event, invocationId, actions } });
    for (const key of Object.keys(stateDelta)) this.pending.delete(key);
    return appended;
  }

  end() {
    if (this.pending.size > 0) throw new Error('writes were never appended');
  }
}
