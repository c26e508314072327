// The styles of the moment on the timeline: the ruler with the slider, and the line through the lanes.

import { css } from 'lit';

/** The styles of the ruler, the slider and the line of the moment, for the timeline's shadow tree. */
export const momentStyle = css`
  /* The line of the moment. It is drawn as a border, which forced colours leave visible, and can be grabbed. */
  .moment {
    position: absolute;
    inset-block: 24px 0;
    width: 12px;
    margin-inline-start: -6px;
    cursor: ew-resize;
    touch-action: none;
  }

  .moment::before {
    position: absolute;
    inset-block: 0;
    inset-inline-start: 5px;
    border-inline-start: 2px solid var(--text);
    content: '';
  }

  .ruler {
    position: absolute;
    inset: 0 0 auto;
    height: 24px;
    background: var(--paper);
    transform: translateY(var(--scrolled, 0));
  }

  .ruler svg {
    position: absolute;
    inset-block-start: 0;
  }

  /* The slider: its thumb is the head of the line of the moment. */
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
    width: 24px;
    height: 24px;
    border: 0;
    background: var(--text);
    appearance: none;
    clip-path: polygon(25% 8%, 75% 8%, 75% 62%, 54% 100%, 46% 100%, 25% 62%);
    cursor: ew-resize;
  }

  .ruler input::-moz-range-thumb {
    box-sizing: border-box;
    width: 24px;
    height: 24px;
    border: 0;
    border-radius: 0;
    background: var(--text);
    clip-path: polygon(25% 8%, 75% 8%, 75% 62%, 54% 100%, 46% 100%, 25% 62%);
    cursor: ew-resize;
  }

  .ruler input:focus-visible::-webkit-slider-thumb {
    background: var(--accent);
    clip-path: polygon(12% 0, 88% 0, 88% 66%, 54% 100%, 46% 100%, 12% 66%);
  }

  .ruler input:focus-visible::-moz-range-thumb {
    background: var(--accent);
    clip-path: polygon(12% 0, 88% 0, 88% 66%, 54% 100%, 46% 100%, 12% 66%);
  }

  .ruler:has(input:focus-visible) {
    box-shadow: inset 0 -2px var(--accent);
  }

  @media (forced-colors: active) {
    .ruler input::-webkit-slider-thumb {
      background: CanvasText;
      forced-color-adjust: none;
    }

    .ruler input::-moz-range-thumb {
      background: CanvasText;
      forced-color-adjust: none;
    }

    .ruler input:focus-visible::-webkit-slider-thumb {
      background: Highlight;
    }

    .ruler input:focus-visible::-moz-range-thumb {
      background: Highlight;
    }

    .ruler:has(input:focus-visible) {
      border-block-end: 2px solid Highlight;
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
  }
`;
