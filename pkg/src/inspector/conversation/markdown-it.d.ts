// The part of markdown-it that the conversation uses; it declares no types.

declare module 'markdown-it' {
  export interface Token {
    readonly type: string;
    readonly tag: string;
    readonly content: string;
    readonly info: string;
    /** 1 at the beginning of an element, -1 at its end, 0 for one without content of its own. */
    readonly nesting: 1 | 0 | -1;
    /** True for the paragraphs of a tight list. */
    readonly hidden: boolean;
    readonly children: readonly Token[] | null;
    attrGet(name: string): string | null;
  }

  export interface MarkdownOptions {
    readonly html: boolean;
    readonly linkify: boolean;
    readonly breaks: boolean;
  }

  export default class MarkdownIt {
    constructor(options: MarkdownOptions);
    readonly linkify: { set(options: { readonly fuzzyLink: boolean; readonly fuzzyEmail: boolean }): void };
    parse(text: string, env: object): readonly Token[];
  }
}
