// nginx in front of a server, with the block of docs/serve.md.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { SessionService } from 'statepad';
import { temporaryFolder } from '../../packaging/project.mjs';
import { blocksOf, textOf } from '../../docs/pages.mjs';
import { serveFetch } from '../../support/fetch-server.mjs';
import { freePort } from '../../support/ports.mjs';
import { start } from '../host.mjs';
import { handlerOver } from '../served-handler.js';
import { itServes } from '../served.mjs';

/** The block of the page. */
const [{ code: block }] = blocksOf(textOf('docs/serve.md')).filter(({ language }) => language === 'nginx');

/** A whole configuration around the block, for a server at another address. */
function configuration(folder, port, upstream) {
  const address = 'http://127.0.0.1:8377';
  assert.ok(block.includes(address), block);
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
    daemon off;
    # The folder belongs to whoever runs the tests. Others than root are told that they need not say so.
    user ${userInfo().username};
    pid ${folder}/nginx.pid;
    error_log stderr notice;
    events {}
    http {
      access_log off;
      ${places.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
      server {
        listen 127.0.0.1:${port};
        ${block.replace(address, upstream)}
      }
    }
  `;
}

describe('behind nginx', () => {
  const complaints = [];
  // The name under which clients know the server, which nginx passes on.
  const handler = handlerOver(new SessionService(), {
    hosts: ['localhost'],
    onError: (error) => complaints.push(String(error)),
  });
  let upstream;
  let nginx;
  let port;

  before(async () => {
    const folder = temporaryFolder();
    upstream = await serveFetch(handler);
    port = await freePort();
    writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, upstream.origin));
    const args = ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')];
    nginx = await start(folder, 'nginx', args, { ready: /start worker process/ });
  });
  after(async () => {
    await nginx?.stop();
    await upstream?.stop();
  });

  const output = () => {
    const errors = nginx.output().match(/\[(?:error|crit|alert|emerg)\].*/g) ?? [];
    // One check sends what is too large.
    return [...complaints, ...errors.filter((line) => !line.includes('too large body: 9437184'))].join('\n');
  };
  itServes(() => ({ url: `http://localhost:${port}`, output, holdsBodies: true }));
});
