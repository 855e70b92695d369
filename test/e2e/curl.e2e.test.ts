import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { patience } from './patience.ts'
import { World } from './world.ts'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

/** The page's commands for a turn, an approval and a resume. */
const commands = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)]
  .map((block) => block[1] ?? '')
  .find((block) => block.includes('/approve'))

/** A shell that is given commands as a person types them. */
class Shell {
  readonly #process: ChildProcess
  output = ''

  constructor() {
    this.#process = spawn('bash', [], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] })
    this.#process.stdout?.on('data', (part: Buffer) => {
      this.output += part.toString()
    })
  }

  type(text: string): void {
    this.#process.stdin?.write(`${text}\n`)
  }

  /** What a pattern finds in the output, once it does. */
  async sees(pattern: RegExp): Promise<RegExpExecArray> {
    return vi.waitFor(() => pattern.exec(this.output) ?? expect.fail(`${pattern} is not in ${this.output}`), patience)
  }

  close(): void {
    const { pid } = this.#process
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  }
}

describe('the commands that README.md shows', () => {
  let world: World
  const shell = new Shell()
  beforeAll(async () => {
    world = await World.start()
  })
  afterAll(async () => {
    shell.close()
    await world.stop()
  })

  it('run a turn, approve its tool call and read on, by curl and nothing else', async () => {
    const [before = '', after = ''] = (commands ?? '').split(/^ACTION=.*$/m)
    shell.type(before.replace(/^export KEY=.*$/m, `export KEY=${world.secretKey} URL=${world.url}`))
    const [, action] = await shell.sees(/^event: turn\.paused\nid: \d+\ndata: .*"action_id":"(act_\w+)"/m)
    const pausedAt = shell.output.length
    shell.type(`ACTION=${action}${after}`)
    await shell.sees(/^event: turn\.completed\nid: \d+\ndata: .*31 degrees, sunny[\s\S]*^event: turn\.completed/m)
    const resumed = shell.output.slice(pausedAt)
    const ids = [...resumed.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]))
    const half = ids.length / 2
    expect(ids[0]).toBe(4)
    expect(ids.slice(half), 'reading on gives the same events again').toEqual(ids.slice(0, half))
  })
})
