// For `node --import`: loads the core as browsers do, in two modules of which the second comes at its first use.

import { register } from 'node:module';

const hook = `
  export const resolve = (specifier, context, next) =>
    next(specifier === '#load' ? './load.browser.js' : specifier, context);
`;

register(`data:text/javascript,${encodeURIComponent(hook)}`);
