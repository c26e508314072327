// The part of markdown-it that the scripts use; it declares no types.

declare module 'markdown-it' {
  export interface Token {
    content: string;
    attrGet(name: string): string | null;
    attrSet(name: string, value: string): void;
  }

  export type RenderRule = (tokens: Token[], index: number, options: object, env: Env, self: Renderer) => string;

  /** The values that the caller of `render` passes to the rules. */
  export interface Env {
    path: string;
    slugs: Map<string, number>;
  }

  export interface Renderer {
    rules: { image: RenderRule; heading_open: RenderRule; link_open: RenderRule };
    renderToken(tokens: Token[], index: number, options: object): string;
  }

  export default class MarkdownIt {
    constructor(options: { html: boolean });
    renderer: Renderer;
    utils: { escapeHtml(text: string): string };
    render(text: string, env: Env): string;
  }
}
