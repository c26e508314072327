// Runs store cases in a worker, each when its name arrives.

import './page.js';

globalThis.onmessage = async ({ data }) => {
  globalThis.postMessage({ name: data, wrong: await globalThis.kit.runCase(data) });
};
