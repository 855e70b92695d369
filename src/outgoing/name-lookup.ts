import { type LookupAddress, promises, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { promisify } from 'node:util'

export interface NameLookupOptions {
  /** `address:port` of DNS servers; those of the machine when absent. */
  readonly servers?: readonly string[]
  /** The system's lookup, which uses its hosts file and other sources. */
  readonly system?: (name: string) => Promise<readonly LookupAddress[]>
}

/** Timeout of the first DNS query, in ms; the second has twice that. */
const queryMs = 2_000
const tries = 2
/** Time in ms after which the machine's DNS servers are read again when none answers: they may have changed. */
const staleMs = 30_000
/** Maximum number of names that wait for the system's lookup, and for how long, in ms. */
const maxWaiting = 64
const maxWaitMs = 5_000

/** Codes that do not mean that the name is unknown: no server was reached, or none answered in time. */
const silent = new Set(['ETIMEOUT', 'ECANCELLED'])

/**
 * Returns a lookup for names that customers choose, with DNS queries over sockets. The system's lookup occupies a
 * thread per name until it is answered, and Node runs only two: a customer whose DNS servers do not answer would block
 * every connection of the process, including those to models and stores (specs/decisions/0031).
 *
 * A name that no server knows is passed to the system, which has a hosts file; one such name at a time.
 */
export const openNameLookup = (options: NameLookupOptions = {}): LookupFunction => {
  const names = new Names(options)
  return (name, _options, callback) => {
    names.find(name).then(
      (found) => callback(null, [...found]),
      (error) => callback(error, []),
    )
  }
}

class Names {
  readonly #servers: readonly string[] | undefined
  readonly #system: (name: string) => Promise<readonly LookupAddress[]>
  #resolver: promises.Resolver | null = null
  #openedAt = 0
  #line: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor({ servers, system = osLookup }: NameLookupOptions) {
    this.#system = system
    this.#servers = servers
  }

  async find(name: string): Promise<readonly LookupAddress[]> {
    const resolver = this.#opened()
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const found = answers.flatMap((answer, index) =>
      answer.status === 'rejected' ? [] : answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })),
    )
    if (found.length > 0) return found
    const isSilent = answers.some((answer) => answer.status === 'rejected' && silent.has(String(answer.reason?.code)))
    if (!isSilent) return this.#bySystem(name)
    if (performance.now() - this.#openedAt > staleMs) this.#resolver = null
    throw noAnswer(name)
  }

  #opened(): promises.Resolver {
    if (this.#resolver !== null) return this.#resolver
    const resolver = new promises.Resolver({ timeout: queryMs, tries })
    if (this.#servers !== undefined) resolver.setServers(this.#servers)
    this.#openedAt = performance.now()
    this.#resolver = resolver
    return resolver
  }

  /**
   * Looks up one name at a time, so that a name that DNS denies and the system does not answer occupies only one
   * thread.
   */
  async #bySystem(name: string): Promise<readonly LookupAddress[]> {
    if (this.#waiting >= maxWaiting) throw noAnswer(name)
    this.#waiting += 1
    const since = performance.now()
    const turn = this.#line.then(() => {
      this.#waiting -= 1
      if (performance.now() - since > maxWaitMs) throw noAnswer(name)
      return this.#system(name)
    })
    this.#line = turn.catch(() => {})
    return turn
  }
}

const lookup = promisify(systemLookup)
const osLookup = (name: string): Promise<readonly LookupAddress[]> => lookup(name, { all: true })

/** An error with the code that the system's lookup would use. */
const noAnswer = (name: string): Error =>
  Object.assign(new Error(`the servers of names do not answer for ${name}`), { code: 'EAI_AGAIN', syscall: 'query' })
