import { MongoClient } from 'mongodb'

/** Measurements of a running server and its store. */
export interface Gauges {
  readonly rssMb: number
  /** Number of file descriptors, including sockets. */
  readonly handles: number
  readonly openCommits: number
  /** Bytes of all documents. Index sizes are left out: they grow by whole pages and would hide what a window wrote. */
  readonly storedBytes: number
}

const maxOpen = 1_000_000

/** Reads the gauges of a server on a MongoDB. */
export class GaugeReader {
  readonly #url: string
  readonly #client: MongoClient

  constructor(url: string, mongodbUrl: string) {
    this.#url = url
    this.#client = new MongoClient(mongodbUrl)
  }

  async read(): Promise<Gauges> {
    const shown = await (await fetch(`${this.#url}/metrics`)).text()
    const metric = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(shown)?.[1] ?? Number.NaN)
    const db = this.#client.db()
    const { dataSize } = await db.command({ dbStats: 1 })
    return {
      rssMb: metric('process_resident_memory_bytes') / 2 ** 20,
      handles: metric('process_open_fds'),
      openCommits: await db.collection('commits').countDocuments({ open: true }, { limit: maxOpen }),
      storedBytes: Number(dataSize),
    }
  }

  async close(): Promise<void> {
    await this.#client.close()
  }
}
