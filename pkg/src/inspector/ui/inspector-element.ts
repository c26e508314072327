// The base class of the inspector's components, which keeps them up to date.

import { LitElement, type PropertyDeclarations, type PropertyValues } from 'lit';
import type { Inspection } from '../model/inspection.js';

/** A component of the inspector: it shows its {@link Inspection} as it changes. */
export class InspectorElement extends LitElement {
  static override properties: PropertyDeclarations = { inspection: { attribute: false } };
  /** The inspection on show. */
  declare inspection: Inspection | undefined;
  readonly #changed = (): void => {
    this.requestUpdate();
  };

  override connectedCallback(): void {
    super.connectedCallback();
    this.inspection?.addEventListener('change', this.#changed);
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.inspection?.removeEventListener('change', this.#changed);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('inspection');
    if (changed.has('inspection')) {
      before?.removeEventListener('change', this.#changed);
      if (this.isConnected) {
        this.inspection?.addEventListener('change', this.#changed);
      }
    }
  }
}
