import { createRequire } from 'node:module'
import type * as Undici from 'undici'

const require = createRequire(import.meta.url)

/**
 * The HTTP client for hosts that customers name, loaded at the first call: it takes a sixth of a start, and the first
 * turn of most installations goes over connections of our own (http1-pool.ts).
 */
export const undici = (): typeof Undici => require('undici')
