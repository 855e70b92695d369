import type { Service } from '../services/service.ts'

/** A process that is killed, held and started again, on one port and with one data folder. */
export class Restartable {
  #service: Service
  #isPaused = false
  #isRunning = true

  constructor(service: Service) {
    this.#service = this.#watched(service)
  }

  get url(): string {
    return this.#service.url
  }

  get port(): number {
    return this.#service.port
  }

  get pid(): number {
    return this.#service.pid
  }

  /** False from the end of the process until it is started again. */
  get isRunning(): boolean {
    return this.#isRunning
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Resolves when this very process is gone, with its exit code; null when a signal ended it. */
  get exited(): Promise<number | null> {
    return this.#service.exited
  }

  /** Everything that it has printed, over restarts too. */
  log(): string {
    return this.#service.log()
  }

  /** SIGKILL: the process is gone when this resolves. */
  async kill9(): Promise<void> {
    this.#isPaused = false
    await this.#service.kill9()
  }

  /** SIGTERM: resolves when the process has ended, with its exit code. */
  async term(): Promise<number | null> {
    this.resume()
    this.#signal('SIGTERM')
    return this.exited
  }

  /** SIGSTOP: it stands still until `resume`, its connections open. */
  pause(): void {
    this.#isPaused = this.#signal('SIGSTOP')
  }

  resume(): void {
    this.#signal('SIGCONT')
    this.#isPaused = false
  }

  /** Starts it again; when it still runs it is killed before. Resolves when it takes connections. */
  async restart(): Promise<void> {
    await this.kill9()
    this.#service = this.#watched(await this.#service.restart())
    this.#isRunning = true
  }

  /** Ends it as a shutdown does and removes its data. */
  async stop(): Promise<void> {
    this.resume()
    await this.#service.stop()
  }

  #signal(signal: NodeJS.Signals): boolean {
    return this.#isRunning && process.kill(this.#service.pid, signal)
  }

  #watched(service: Service): Service {
    void service.exited.then(() => {
      if (this.#service === service) this.#isRunning = false
    })
    return service
  }
}
