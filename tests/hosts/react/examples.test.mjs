// The examples of docs/react.md as a strict TypeScript project has them, with React's own types.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { STRICT } from '../../docs/pages.mjs';
import { hostOf } from '../host.mjs';
import { KITS, examples } from './site.mjs';

/** The branches of `status`, and the mistakes that the compiler reports. */
const narrowed = `
  import type { Session } from 'statepad';
  import { SessionProvider, useSession, useSuspenseSession, useSessionWrite, type SessionSnapshot } from 'statepad/react';

  export function Told(): string {
    const snapshot = useSession();
    const { status, session, error, previous } = snapshot;
    switch (status) {
      case 'loading':
        return previous?.id ?? 'nothing';
      case 'ready': {
        const known: Session = session;
        // @ts-expect-error: there is no error
        error.message;
        return known.id;
      }
      case 'missing': {
        const none: undefined = session;
        return String(none);
      }
      case 'error': {
        // @ts-expect-error: there may be no session
        session.id;
        return String(error);
      }
    }
  }
  export function suspended(): string {
    const { status, session } = useSuspenseSession();
    const other: 'ready' | 'missing' | 'error' = status;
    return status === 'missing' ? other : session.id;
  }
  export const snapshots: readonly SessionSnapshot[] = [
    { status: 'missing' },
    // @ts-expect-error: a session that is ready is there
    { status: 'ready' },
  ];
  export function written(): Promise<number> {
    const { writeAsync } = useSessionWrite(async (delta, { userId }) => Object.keys(delta).length + userId.length);
    return writeAsync((state) => ({ count: Number(state.count) + 1 }));
  }
  // @ts-expect-error: a value of the state is no node
  export const shown = (state: Record<string, import('statepad').Json>) => <p>{state.topic}</p>;
  // @ts-expect-error: the source is missing
  export const provider = <SessionProvider appName="a" userId="u" sessionId="s" />;
`;

/** The project of the section on Next has the file of docs/hosts.md, and its types come from Node. */
const files = {
  ...examples('In React', 'Writing', 'With Suspense', 'Server rendering', 'In Next'),
  'lib/sessions.ts': `import { SessionService } from 'statepad';\nexport const sessions = new SessionService();\n`,
  'narrowed.tsx': narrowed,
};

for (const kit of KITS) {
  describe(`the examples, in ${kit}`, () => {
    it('compile as strict tsx, and TypeScript tells the cases of a session apart', async () => {
      assert.ok(Object.keys(files).length > 7, Object.keys(files).join());
      const host = await hostOf(kit, files);
      const compilerOptions = {
        ...STRICT,
        noEmit: true,
        jsx: 'react-jsx',
        module: 'esnext',
        moduleResolution: 'bundler',
        types: [],
        // Those of React 18 do not stand a check of their own.
        skipLibCheck: true,
      };
      const names = Object.keys(files).filter((name) => /\.tsx?$/.test(name));
      writeFileSync(join(host.folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: names }));
      const { output } = await host.run('tsc -p .');
      assert.equal(output, '');
    });
  });
}
