// The styles of the moment on the timeline: the ruler with the slider, and the line through the lanes with its grip.

import { css } from 'lit';

/** The styles of the ruler, the slider and the line of the moment, for the timeline's shadow tree. */
export const momentStyle = css`
  /* The line of the moment. It is drawn as a border, which forced colours leave visible, and can be grabbed. */
  .moment {
    position: absolute;
    inset-block: 16px 0;
    width: 12px;
    margin-inline-start: -6px;
    cursor: ew-resize;
    touch-action: none;
  }

  .moment::before {
    position: absolute;
    inset-block: 0;
    inset-inline-start: 5px;
    border-inline-start: 2px solid var(--accent);
    content: '';
  }

  .base {
    position: absolute;
    inset-block: 18px 0;
    border-inline-start: 2px dashed var(--warn);
    pointer-events: none;
  }

  .ruler {
    position: absolute;
    inset: 0 0 auto;
    height: 18px;
    background: var(--paper);
    transform: translateY(var(--scrolled, 0));
  }

  .ruler svg {
    position: absolute;
    inset-block-start: 0;
  }

  /* The head of the line: its grip, with the number of the moment. */
  .grip {
    position: absolute;
    inset-block-start: 1px;
    border: 1px solid transparent;
    border-radius: 99px;
    padding-inline: 7px;
    color: var(--on-accent);
    background: var(--accent);
    font-size: 10px;
    font-weight: 600;
    font-variant-numeric: tabular-nums;
    line-height: 15px;
    pointer-events: none;
    transform: translateX(-50%);
    white-space: nowrap;
  }

  /* At the end of the picture there is no room on both sides of the line. */
  .grip.at-end {
    transform: translateX(calc(8px - 100%));
  }

  .ruler:hover .grip {
    box-shadow: 0 0 0 3px color-mix(in srgb, var(--accent) 25%, transparent);
  }

  .ruler input:focus-visible ~ .grip {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }

  /* The slider that a keyboard and a drag move: the grip shows where it is. A finger needs 24 px. */
  .ruler input {
    position: absolute;
    inset-block-start: 0;
    height: 24px;
    margin: 0;
    border: 0;
    border-radius: 0;
    padding: 0;
    background: none;
    appearance: none;
    cursor: pointer;
    outline: 0;
  }

  .ruler input::-webkit-slider-runnable-track {
    height: 24px;
    background: none;
  }

  .ruler input::-moz-range-track {
    height: 24px;
    background: none;
  }

  .ruler input::-webkit-slider-thumb {
    box-sizing: border-box;
    width: 36px;
    height: 24px;
    border: 0;
    background: none;
    appearance: none;
    cursor: ew-resize;
  }

  .ruler input::-moz-range-thumb {
    box-sizing: border-box;
    width: 36px;
    height: 24px;
    border: 0;
    border-radius: 0;
    background: none;
    cursor: ew-resize;
  }

  @media (forced-colors: active) {
    .grip {
      border-color: CanvasText;
      color: CanvasText;
      background: Canvas;
    }

    /* A border marks later events: a background would hide them. */
    .later,
    .seen {
      background: none;
    }

    .at-moment {
      border-inline-start: 2px solid CanvasText;
    }

    .at-selected {
      border: 3px solid Highlight;
    }

    .light {
      stroke: Highlight;
    }
  }
`;
