import { type LookupAddress, promises, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { promisify } from 'node:util'

/** What names are looked up with. */
export interface NameLookupOptions {
  /** `address:port` of servers of names; those of the machine when absent. */
  readonly servers?: readonly string[]
  /** What the system knows of a name, by its file of hosts and whatever else it has. */
  readonly system?: (name: string) => Promise<readonly LookupAddress[]>
}

/** Time for a first question to a server of names, in ms; a second one has twice that. */
const queryMs = 2_000
const tries = 2
/** The machine's servers may be others by now, where none answers and they were read so long ago, in ms. */
const staleMs = 30_000
/** Names that wait for the system, and how long. */
const mostWaiting = 64
const mostWaitMs = 5_000

/** Codes that say nothing of the name: no server was reached, or it did not answer in time. */
const silent = new Set(['ETIMEOUT', 'ECANCELLED'])

/**
 * Looks up names that customers choose, by questions over sockets of our own. The system's lookup holds a thread for each
 * name until it is answered, of which Node lets two run: a customer whose servers of names do not answer would stop every
 * connection of the process to anyone, models and stores among them (specs/decisions/0233).
 *
 * A name that no server knows is one for the system, which has a file of hosts; one such name at a time.
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

  constructor({ servers, system = lookedUp }: NameLookupOptions) {
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

  /** One at a time: a name that is answered here and not there holds one thread. */
  async #bySystem(name: string): Promise<readonly LookupAddress[]> {
    if (this.#waiting >= mostWaiting) throw noAnswer(name)
    this.#waiting += 1
    const since = performance.now()
    const turn = this.#line.then(() => {
      this.#waiting -= 1
      if (performance.now() - since > mostWaitMs) throw noAnswer(name)
      return this.#system(name)
    })
    this.#line = turn.catch(() => {})
    return turn
  }
}

const lookup = promisify(systemLookup)
const lookedUp = (name: string): Promise<readonly LookupAddress[]> => lookup(name, { all: true })

/** With the code by which callers know it of the system's lookup. */
const noAnswer = (name: string): Error =>
  Object.assign(new Error(`the servers of names do not answer for ${name}`), { code: 'EAI_AGAIN', syscall: 'query' })
