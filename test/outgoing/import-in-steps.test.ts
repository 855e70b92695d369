import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { limitOf } from '#test/e2e/loop-probe.ts'

/** Imports a package by an expression in a fresh process. Prints the longest turn of its loop in ms of processor time. */
const program = (module: string, loading: string) => `
import { readFileSync } from 'node:fs'
import * as module from '${module}'
const busyMs = () => Number(readFileSync('/proc/self/task/' + process.pid + '/schedstat', 'latin1').split(' ', 1)[0]) / 1e6
let [last, max] = [busyMs(), 0]
const timer = setInterval(() => { const now = busyMs(); max = Math.max(max, now - last); last = busyMs() }, 1)
await new Promise((resolve) => setTimeout(resolve, 20))
max = 0
const loaded = await module.${loading}
await new Promise((resolve) => setTimeout(resolve, 5))
clearInterval(timer)
console.log(JSON.stringify({ max, isLoaded: typeof loaded === 'object' }))
`

it.each([
  ['the client of remote tool servers', '#outgoing/mcp-sdk.ts', 'mcpSdk()'],
  ['the SDK of OpenAI', '#gateway/providers/openai/openai-sdk.ts', 'openAiSdk(fetch)'],
  ['the SDK of Anthropic', '#gateway/providers/anthropic/anthropic-sdk.ts', 'anthropicSdk(fetch)'],
])('%s is loaded without blocking the event loop', (_, module, loading) => {
  const seen: number[] = []
  // several, because a garbage collection may fall into one
  while (seen.length < 3 && !seen.some((ms) => ms < 50)) {
    const options = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program(module, loading)]
    const { max, isLoaded } = JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8', cwd: '.' }))
    expect(isLoaded).toBe(true)
    seen.push(Number(max))
  }
  expect(Math.min(...seen)).toBeLessThanOrEqual(limitOf(seen))
})
