import { fileURLToPath } from 'node:url'
import { keepSources } from './sources.js'

/*
 * Preload this file with `node --import` before a script: it starts in half the time, from the cached results of
 * earlier starts.
 */
keepSources(fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, ''))
