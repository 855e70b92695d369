import type { Service } from '../services/service.ts'

/** A server process that can be killed, paused and restarted, on the same port and with the same data folder. */
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

  /** False from when the process ends until it is restarted. */
  get isRunning(): boolean {
    return this.#isRunning
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Resolves when the current process has ended, with its exit code; null when a signal ended it. */
  get exited(): Promise<number | null> {
    return this.#service.exited
  }

  /** Returns all output of the process, including that of earlier starts. */
  log(): string {
    return this.#service.log()
  }

  /** Sends SIGKILL; resolves when the process has ended. */
  async kill9(): Promise<void> {
    this.#isPaused = false
    await this.#service.kill9()
  }

  /** Sends SIGTERM; resolves when the process has ended, with its exit code. */
  async term(): Promise<number | null> {
    this.resume()
    this.#signal('SIGTERM')
    return this.exited
  }

  /** Sends SIGSTOP: the process is suspended until `resume`, with its connections open. */
  pause(): void {
    this.#isPaused = this.#signal('SIGSTOP')
  }

  resume(): void {
    this.#signal('SIGCONT')
    this.#isPaused = false
  }

  /** Restarts the process, and kills it first if it is running. Resolves when it accepts connections. */
  async restart(): Promise<void> {
    await this.kill9()
    this.#service = this.#watched(await this.#service.restart())
    this.#isRunning = true
  }

  /** Shuts the process down and removes its data. */
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
