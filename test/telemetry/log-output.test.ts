import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectWithin } from '#test/support/expect-within.ts'

const source = resolve(import.meta.dirname, '../../src/telemetry/log-output.ts')
const lines = 2_000

/** Logs 400 KB while its output is not read, prints the duration, and ends on request. */
const program = `
  import { LogOutput } from ${JSON.stringify(source)}
  const output = new LogOutput(process.stdout.fd, 64 * 1024)
  const began = performance.now()
  for (let n = 0; n < ${lines}; n++) output.write(JSON.stringify({ n, msg: 'x'.repeat(180) }) + '\\n')
  process.stderr.write(String(performance.now() - began) + '\\n')
  process.stdin.once('data', () => {
    if (process.argv[1] === 'end') process.exit(0)
    const look = setInterval(() => output.write(JSON.stringify({ n: -1 }) + '\\n'), 20)
    process.stdin.once('end', () => clearInterval(look))
  })
`

const start = (then: string) => {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program, then]
  return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] })
}

describe('the log output', () => {
  it('continues without a reader, buffers up to its limit, and reports lost lines when it is read again', async () => {
    const child = start('go on')
    const [took] = await once(child.stderr, 'data')
    await expectWithin(1_000, Number(String(took)), async () => {
      const other = start('end')
      other.stdout.resume()
      await once(other.stderr, 'data')
      other.stdin.end('read')
    })
    let seen = ''
    child.stdout.on('data', (part) => {
      seen += String(part)
    })
    child.stdin.write('read')
    await expect.poll(() => seen).toContain('log lines dropped')
    child.stdin.end()
    await once(child, 'exit')
    const read = seen.trim().split('\n')
    const numbers = read.map((line) => JSON.parse(line).n).filter((n) => n >= 0)
    expect(numbers).toEqual(numbers.map((_, at) => at))
    const { lost } = JSON.parse(read.find((line) => line.includes('log lines dropped')) ?? '')
    expect(numbers.length + lost).toBe(lines)
  })

  it('does not keep its process from exiting', async () => {
    const child = start('end')
    await once(child.stderr, 'data')
    child.stdin.end('now')
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})
