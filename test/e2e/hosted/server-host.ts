import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { inherited, nodeOptions, sourcesBundled } from '#scripts/services/server.ts'
import type { HostAnswer, HostRequest } from './server-host-process.ts'

/** Limit for closing an installation, as for a process that has to end. */
const closeMs = 40_000

/** A process that opens and closes installations (server-host-process.ts); it ends with this one. */
class ServerHost {
  readonly exited: Promise<number | null>
  readonly #child: ChildProcess
  readonly #output: string
  readonly #pending = new Map<number, PromiseWithResolvers<void>>()
  /** Open installations, and the test file of each. */
  readonly #open = new Map<number, string | undefined>()
  #requests = 0

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-host-'))
    this.#output = join(folder, 'output')
    const output = openSync(this.#output, 'a')
    const program = resolve(import.meta.dirname, 'server-host-process.ts')
    this.#child = fork(program, {
      execArgv: [...nodeOptions],
      env: inherited(),
      stdio: ['ignore', output, output, 'ipc'],
      // Ctrl-C reaches only this process
      detached: true,
    })
    closeSync(output)
    // a worker of the test runner ends without waiting for it
    this.#child.unref()
    this.#child.channel?.unref()
    this.#child.on('message', (answer: HostAnswer) => this.#settle(answer))
    const exited = new Promise<number | null>((done) => this.#child.once('exit', done).once('error', () => done(null)))
    this.exited = exited.then((code) => {
      this.#lose()
      rmSync(folder, { recursive: true, force: true })
      return code
    })
  }

  get isRunning(): boolean {
    return this.#child.connected
  }

  /** @throws when the installation does not start; its log says why. */
  async open(env: Readonly<Record<string, string>>, log: string): Promise<{ close(): Promise<void> }> {
    const id = this.#requests++
    await this.#send({ id, env, log })
    this.#open.set(id, runningFile())
    return { close: () => this.#close(id) }
  }

  async #close(opened: number): Promise<void> {
    if (!this.#open.delete(opened) || !this.isRunning) return
    const impatience = setTimeout(() => this.#child.kill('SIGKILL'), closeMs)
    await this.#send({ id: this.#requests++, close: opened }).finally(() => clearTimeout(impatience))
  }

  /** Kills the process and the installation in it, besides those that a file which has ended did not close. */
  async kill9(): Promise<void> {
    const ofFile = [...this.#open.values()].filter((file) => file === runningFile())
    if (ofFile.length > 1) throw new Error('another installation is open in the process that this would kill')
    this.#child.kill('SIGKILL')
    await this.exited
  }

  #send(request: HostRequest): Promise<void> {
    const pending = Promise.withResolvers<void>()
    this.#pending.set(request.id, pending)
    this.#child.send(request)
    return pending.promise
  }

  #settle({ id, failure }: HostAnswer): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (failure === null) pending?.resolve()
    else pending?.reject(new Error(failure))
  }

  #lose(): void {
    const lost = new Error(`the process of the server ended\n${readFileSync(this.#output, 'utf8').slice(-2_000)}`)
    for (const { reject } of this.#pending.values()) reject(lost)
    this.#pending.clear()
    this.#open.clear()
  }
}

const runningFile = (): string | undefined => expect.getState().testPath

let current: ServerHost | undefined

/** The host of this worker of the test runner; a new one when the last was killed. */
export const hostOfWorker = async (): Promise<ServerHost> => {
  await sourcesBundled()
  if (current?.isRunning !== true) current = new ServerHost()
  return current
}
