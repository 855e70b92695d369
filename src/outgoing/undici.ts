import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type * as Undici from 'undici'

/** The used parts of the package. */
export type HttpClient = Pick<typeof Undici, 'Agent' | 'Pool' | 'buildConnector'> & {
  /** Bytes of the current answer's body that the parser has reported; 0 between answers. */
  readonly bodyBytesOf: (socket: Socket) => number
}

const require = createRequire(import.meta.url)

let loaded: HttpClient | undefined

/**
 * The HTTP client for hosts that customers choose, loaded at the first call: in most installations the first turn uses
 * only http1-pool.ts. Only these parts are loaded: the whole package, with its `fetch`, caches and mocks, takes three
 * times as long, and installs its own agent behind Node's `fetch`.
 */
export const undici = (): HttpClient => {
  loaded ??= load()
  return loaded
}

const load = (): HttpClient => {
  // as in the package's index: request, stream … become methods of every dispatcher
  Object.assign(require('undici/lib/dispatcher/dispatcher.js').prototype, require('undici/lib/api/index.js'))
  const { kParser }: { readonly kParser: symbol } = require('undici/lib/core/symbols.js')
  return {
    bodyBytesOf: (socket) => Reflect.get(socket, kParser)?.bytesRead ?? 0,
    Agent: require('undici/lib/dispatcher/agent.js'),
    Pool: require('undici/lib/dispatcher/pool.js'),
    buildConnector: require('undici/lib/core/connect.js'),
  }
}
