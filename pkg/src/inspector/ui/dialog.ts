// Modal dialogs: the palette, the list of sessions, the sheet of shortcuts.

import { css } from 'lit';

/** The styles of a modal `<dialog>`. */
export const dialogStyle = css`
  dialog {
    flex-direction: column;
    overflow: hidden;
    width: min(704px, calc(100vw - 24px));
    max-width: none;
    max-height: min(576px, calc(100dvh - 32px));
    margin: min(12vh, 96px) auto auto;
    border: 0;
    border-radius: var(--sp-radius-lg);
    padding: 0;
    color: var(--text);
    background: var(--raised);
    box-shadow: var(--sp-shadow-lg);
    font-family: var(--sans);
    font-size: var(--sp-text-md);
    line-height: 1.45;
  }

  dialog[open] {
    display: flex;
    animation: appear var(--sp-slow) var(--sp-ease);
  }

  /* The text cursor shows where the focus is. */
  dialog input.bare:focus-visible {
    outline: 0;
  }

  dialog::backdrop {
    background: var(--scrim);
  }

  @keyframes appear {
    from {
      opacity: 0;
      transform: translateY(-6px) scale(0.985);
    }
  }

  @media (forced-colors: active) {
    dialog {
      border: 1px solid CanvasText;
    }
  }
`;

/** Closes a dialog at a press outside of its box: its backdrop is a part of it. */
export function closeOutside(event: PointerEvent): void {
  const dialog = event.currentTarget as HTMLDialogElement;
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  const { clientX: x, clientY: y } = event;
  if (event.target === dialog && (x < left || x > right || y < top || y > bottom)) {
    dialog.close();
  }
}
