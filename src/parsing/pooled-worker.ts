import { Worker } from 'node:worker_threads'
import type { Json } from '../storage/index.ts'
import { ParserFailed } from './parser-failed.ts'
import { isReady, isReply } from './schema.ts'

/** Resource limits of a pool's parsers. */
export interface ParserLimits {
  /** Timeout of one parse, in ms from its start. It begins anew, a few times, while the process gets little of a processor. */
  readonly deadlineMs: number
  /**
   * Heap limit of the worker. Where `maxGrowthMb` is set, it is higher: near its heap limit, V8 collects garbage again
   * and again within one call of native code, such as `JSON.parse`, which cannot be terminated meanwhile.
   */
  readonly maxHeapMb: number
  /** Maximum number of requests waiting for the worker. An owner has a quarter of the places, and always one. */
  readonly maxWaiting: number
  /** Maximum growth of the process during a parse; it covers memory outside the heap, such as unpacked streams. */
  readonly maxGrowthMb?: number
  /** Time in ms after which a parse is slow, so that a second worker reads for other owners; absent for no such one. */
  readonly slowMs?: number
}

export interface ParseRequest {
  readonly task: PropertyKey
  readonly input: unknown
  readonly deadlineMs: number
  /** Time in ms from its start at which it ends at the latest, however busy the machine is. */
  readonly maxMs: number
  /** Whether nothing else may be parsed meanwhile, so that the growth of the process is its own. */
  readonly isAlone: boolean
  readonly settle: (outcome: ParseOutcome) => void
}

export type ParseOutcome = { readonly value: Json } | { readonly failure: ParserFailed }

interface Running {
  readonly id: number
  readonly request: ParseRequest
  /** Starts the deadline. */
  readonly begin: () => void
  readonly end: (outcome: ParseOutcome | 'again') => void
}

/** What a worker notifies its pool of. */
export interface WorkerListener {
  /** A parse has ended or has become slow, or a terminated worker has ended. */
  readonly changed: () => void
  /** A request was stopped since it may have made the process grow, or another parse at the same time. */
  readonly again: (request: ParseRequest) => void
}

/** Interval between checks of the process's memory, in ms. */
const watchMs = 50
/** Share of the time in work below which a worker only waits. */
const waitingShare = 0.1

/**
 * Options of Node by which a worker of sources loads them from the cache of earlier starts: without it, each worker
 * strips their types again, which takes longer than the rest of its start. A packaged worker has no types.
 */
const optionsOf = (module: URL): { readonly execArgv?: string[] } =>
  module.pathname.endsWith('.ts')
    ? { execArgv: ['--disable-warning=ExperimentalWarning', '--import', keptSources] }
    : {}

const keptSources = new URL('../start/kept-sources.js', import.meta.url).href

/** CPU time of the process with all its threads, in ms. */
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** A worker of a pool, which runs one parse at a time. It is replaced after a failure. */
export class ParserWorker {
  readonly #limits: ParserLimits
  readonly #module: URL
  readonly #listener: WorkerListener
  #worker: Worker | null = null
  /**
   * Whether the worker has loaded its parsers. Loading takes longer than most parses and does not count towards their
   * deadline.
   */
  #ready = false
  #running: Running | null = null
  /** Resolves when the worker is free again. */
  #freed: PromiseWithResolvers<void> | null = null
  #isSlow = false
  /** Whether another parse has run at the same time as the one in progress. */
  #isShared = false
  /** Number of terminated workers that have not ended: they use memory and a core until they have. */
  #ending = 0
  /** Whether a worker is to be started when they have ended. */
  #isWanted = false
  #ids = 0

  constructor(limits: ParserLimits, module: URL, listener: WorkerListener) {
    this.#limits = limits
    this.#module = module
    this.#listener = listener
  }

  get isReady(): boolean {
    return this.#ready
  }

  /** Whether neither a parse is in progress nor a terminated worker has still to end. */
  get isFree(): boolean {
    return this.#running === null && this.#ending === 0
  }

  /** Whether the parse in progress has taken long. */
  get isSlow(): boolean {
    return this.#isSlow
  }

  /** Whether nothing else may be parsed meanwhile. */
  get isAlone(): boolean {
    return this.#running?.request.isAlone ?? false
  }

  /** Notes that another parse runs at the same time. */
  markShared(): void {
    this.#isShared = true
  }

  /** Starts the worker in advance of the next parse, once a terminated one has ended. */
  warm(): void {
    if (this.#ending === 0) this.#open()
    else this.#isWanted = true
  }

  /** Terminates the worker; a parse in progress fails. */
  async close(): Promise<void> {
    this.#isWanted = false
    await this.#replace({ failure: new ParserFailed('deadline', 'the pool is closed') })
  }

  /** Terminates the worker if no parse is in progress. */
  release(): void {
    if (this.#running === null && this.#worker !== null) void this.close()
  }

  /** Runs a parse; the worker has to be free. Resolves when it is free again. */
  run(request: ParseRequest): Promise<void> {
    const id = ++this.#ids
    const timers: NodeJS.Timeout[] = []
    const freed = Promise.withResolvers<void>()
    this.#freed = freed
    this.#isSlow = false
    this.#isShared = false
    this.#running = {
      id,
      request,
      begin: () => {
        this.#startDeadline(request, timers)
        timers.push(...this.#timers())
      },
      end: (outcome) => {
        // this clears intervals, too
        for (const timer of timers) clearTimeout(timer)
        this.#running = null
        if (outcome === 'again') this.#listener.again(request)
        else request.settle(outcome)
        if (this.#ending > 0) return
        this.#isSlow = false
        this.#changed()
      },
    }
    this.#open().postMessage({ id, task: request.task, input: request.input })
    if (this.#ready) this.#running.begin()
    return freed.promise
  }

  #changed(): void {
    if (this.isFree) this.#freed?.resolve()
    this.#listener.changed()
  }

  /**
   * A machine that is busy with other processes delays a parse that takes little: it gets half of the deadline as CPU time,
   * unless it has nothing to do but to wait, maybe for ever.
   */
  #startDeadline({ deadlineMs, maxMs }: ParseRequest, timers: NodeJS.Timeout[]): void {
    const [startedAt, startedCpuMs, loop] = [performance.now(), cpuMs(), this.#worker?.performance]
    const started = loop?.eventLoopUtilization()
    const end = (): void => {
      const leftMs = Math.min(deadlineMs, startedAt + maxMs - performance.now())
      const waits = (loop?.eventLoopUtilization(started).utilization ?? 0) < waitingShare
      if (leftMs > 0 && !waits && cpuMs() - startedCpuMs < deadlineMs / 2) timers.push(setTimeout(end, leftMs))
      else void this.#replace({ failure: new ParserFailed('deadline', `the parser took longer than ${deadlineMs} ms`) })
    }
    timers.push(setTimeout(end, deadlineMs))
  }

  #timers(): readonly NodeJS.Timeout[] {
    const { slowMs, maxGrowthMb } = this.#limits
    const timers: NodeJS.Timeout[] = []
    if (slowMs !== undefined) {
      const slow = (): void => {
        this.#isSlow = true
        this.#changed()
      }
      timers.push(setTimeout(slow, slowMs))
    }
    if (maxGrowthMb !== undefined) timers.push(this.#watched(maxGrowthMb))
    return timers
  }

  /** Watches the memory of the process, and terminates a parse during which it grows too much. */
  #watched(maxGrowthMb: number): NodeJS.Timeout {
    const max = process.memoryUsage.rss() + maxGrowthMb * 1024 * 1024
    const large = new ParserFailed('memory', `the process grew by more than ${maxGrowthMb} MB`)
    return setInterval(() => {
      if (process.memoryUsage.rss() > max) void this.#replace(this.#isShared ? 'again' : { failure: large })
    }, watchMs)
  }

  #open(): Worker {
    if (this.#worker !== null) return this.#worker
    const resourceLimits = { maxOldGenerationSizeMb: this.#limits.maxHeapMb }
    const worker = new Worker(this.#module, { resourceLimits, ...optionsOf(this.#module) })
    this.#worker = worker
    worker.unref()
    worker.on('message', (reply: unknown) => {
      if (isReady(reply)) this.#begin(worker)
      if (!isReply(reply) || reply.id !== this.#running?.id) return
      const failure = 'error' in reply ? new ParserFailed('unreadable', String(reply.error)) : null
      this.#running.end(failure === null ? { value: reply.value ?? null } : { failure })
    })
    worker.on('error', (error) => {
      if (this.#worker === worker) void this.#replace({ failure: new ParserFailed('memory', String(error)) })
    })
    return worker
  }

  #begin(worker: Worker): void {
    if (this.#worker !== worker) return
    this.#ready = true
    this.#running?.begin()
  }

  /** Terminates the worker and ends its parse; the next parse starts a new worker once this one has ended. */
  async #replace(outcome: ParseOutcome | 'again'): Promise<void> {
    const worker = this.#worker
    this.#worker = null
    this.#ready = false
    this.#ending += 1
    this.#running?.end(outcome)
    await worker?.terminate()
    this.#ending -= 1
    if (this.#ending === 0 && this.#isWanted) this.#open()
    this.#isWanted &&= this.#ending > 0
    if (this.#ending === 0) this.#isSlow = false
    this.#changed()
  }
}
