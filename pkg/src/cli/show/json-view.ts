// Records as lines of JSON.

import { visibleJson } from '../visible.js';
import type { Output } from '../output/output.js';
import type { ShowRecord } from './records.js';
import type { View } from './view.js';

/** Prints each record as a line. */
export class JsonView implements View {
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  async print(record: ShowRecord): Promise<void> {
    await this.#output.line(visibleJson(record));
  }

  async end(): Promise<void> {
    await this.#output.end();
  }
}
