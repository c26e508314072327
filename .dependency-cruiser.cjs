module.exports = { options: { tsPreCompilationDeps: true, doNotFollow: { path: 'node_modules' } }, forbidden: [] };
