import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type * as Undici from 'undici'

/** What we take of the package. */
export type HttpClient = Pick<typeof Undici, 'Agent' | 'Pool' | 'buildConnector'> & {
  /** Bytes of the body that comes over a connection which its parser has handed on; 0 between answers. */
  readonly bodyBytesOf: (socket: Socket) => number
}

const require = createRequire(import.meta.url)

let loaded: HttpClient | undefined

/**
 * The HTTP client for hosts that customers name, loaded at the first call: the first turn of most installations goes over
 * connections of our own (http1-pool.ts). Only these parts: all of the package, with its `fetch`, caches and mocks, takes three
 * times as long to load, and puts an agent of its own behind Node's `fetch`.
 */
export const undici = (): HttpClient => {
  loaded ??= load()
  return loaded
}

const load = (): HttpClient => {
  // what its index does: request, stream … are methods of every dispatcher
  Object.assign(require('undici/lib/dispatcher/dispatcher.js').prototype, require('undici/lib/api/index.js'))
  const { kParser }: { readonly kParser: symbol } = require('undici/lib/core/symbols.js')
  return {
    bodyBytesOf: (socket) => Reflect.get(socket, kParser)?.bytesRead ?? 0,
    Agent: require('undici/lib/dispatcher/agent.js'),
    Pool: require('undici/lib/dispatcher/pool.js'),
    buildConnector: require('undici/lib/core/connect.js'),
  }
}
