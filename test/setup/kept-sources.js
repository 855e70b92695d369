import { registerHooks } from 'node:module'
import '../../src/start/kept-sources.js'

/*
 * Preloaded into each process of the test runner: Node loads tests and sources from the cached results of earlier
 * processes. The runner adds the time to the name of each test file, which no cache would know again.
 */
registerHooks({
  resolve: (specifier, context, next) => next(specifier.replace(/\?vitest=\d+$/, ''), context),
})
