// Compiles and renders in one call, under ADK's name.

import { isObject } from '../model/value-types.js';
import { checkMethods, checkObject } from '../checks/arguments.js';
import { compiledTemplate } from './cache.js';
import { isReady, ready } from '../engine/wasm.js';
import type { RenderAsyncOptions } from './render.js';
import type { Template } from './template.js';

/** The context for {@link injectSessionState}: one of this package, a state with a resolver, or a context of ADK. */
export type InjectContext =
  | {
      readonly state: Readonly<Record<string, unknown>> | { toRecord(): Readonly<Record<string, unknown>> };
      readonly artifact?: RenderAsyncOptions['artifact'];
    }
  | AdkContext;

/** The members of ADK's `ReadonlyContext` that are read. */
export interface AdkContext {
  readonly invocationContext: {
    readonly session: { readonly state: Readonly<Record<string, unknown>> };
    readonly artifactService?:
      | { loadArtifact(request: { filename: string }): Promise<{ text?: string; inlineData?: unknown } | undefined> }
      | undefined;
  };
}

/**
 * Renders a template with the state of a context and with its artifacts.
 *
 * Throws as {@link Template.render}.
 */
export async function injectSessionState(template: string | Template, context: InjectContext): Promise<string> {
  checkObject(context, 'context');
  if (!isReady()) {
    await ready();
  }
  const compiled = isTemplate(template) ? template : compiledTemplate(template);
  const options = 'invocationContext' in context ? fromAdk(context) : fromState(context);
  return compiled.hasArtifacts ? await compiled.renderAsync(options) : compiled.render({ state: options.state });
}

/** True for a template, even of another copy of the package. */
function isTemplate(template: string | Template): template is Template {
  return isObject(template) && typeof template.render === 'function' && typeof template.renderAsync === 'function';
}

function fromState({ state, artifact }: Exclude<InjectContext, AdkContext>): RenderAsyncOptions {
  checkObject(state, 'context.state');
  const { toRecord } = state as { toRecord?: unknown };
  const isState = typeof toRecord === 'function' && !Object.hasOwn(state, 'toRecord');
  return { state: isState ? (state as { toRecord(): Record<string, unknown> }).toRecord() : state, artifact };
}

/** A text artifact is its text; any other is its JSON, as in ADK. */
function fromAdk({ invocationContext }: AdkContext): RenderAsyncOptions {
  checkObject(invocationContext, 'context.invocationContext');
  const { session, artifactService } = invocationContext;
  checkObject(session, 'context.invocationContext.session');
  checkObject(session.state, 'context.invocationContext.session.state');
  if (artifactService !== undefined) {
    checkMethods(artifactService, 'context.invocationContext.artifactService', ['loadArtifact']);
  }
  const artifact = async (filename: string): Promise<string | undefined> => {
    const part: unknown = await artifactService?.loadArtifact({ filename });
    // A value that is no part is refused where every artifact is checked.
    return isObject(part)
      ? ((part as { readonly text?: string }).text ?? JSON.stringify(part))
      : ((part ?? undefined) as string | undefined);
  };
  return { state: session.state, artifact: artifactService && artifact };
}
