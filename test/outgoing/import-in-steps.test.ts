import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { limitOf } from '#test/e2e/loop-probe.ts'

/** Loads the client in a fresh process. Prints the longest turn of its event loop in ms of processor time. */
const program = `
import { readFileSync } from 'node:fs'
import { mcpSdk } from '#outgoing/mcp-sdk.ts'
const busyMs = () => Number(readFileSync('/proc/self/task/' + process.pid + '/schedstat', 'latin1').split(' ', 1)[0]) / 1e6
let [last, max] = [busyMs(), 0]
const timer = setInterval(() => { const now = busyMs(); max = Math.max(max, now - last); last = busyMs() }, 1)
await new Promise((resolve) => setTimeout(resolve, 20))
max = 0
const { Client } = await mcpSdk()
await new Promise((resolve) => setTimeout(resolve, 5))
clearInterval(timer)
console.log(JSON.stringify({ max, isLoaded: typeof Client === 'function' }))
`

it('the client of remote tool servers is loaded without blocking the event loop', () => {
  const seen = [1, 2, 3].map(() => {
    const options = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
    const { max, isLoaded } = JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8', cwd: '.' }))
    expect(isLoaded).toBe(true)
    return Number(max)
  })
  expect(Math.min(...seen)).toBeLessThanOrEqual(limitOf(seen))
})
