import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { beginning } from '#scripts/test/beginning.ts'

describe('npm test', () => {
  it('first says what it runs, and what it installs', () => {
    expect(beginning([], () => null)).toMatch(/^Running all tests.*\nNot on the PATH: MongoDB, Redis, Chromium\./)
    expect(beginning(['a', 'b'], () => '/bin/x')).toBe('Running the tests whose paths contain a or b.')
  })

  it('says so before it loads anything', async () => {
    const options = ['--disable-warning=ExperimentalWarning', '--import', './src/start/kept-sources.js']
    const running = spawn(process.execPath, [...options, 'scripts/test.ts', 'no/such/path'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = once(running, 'close')
    const [first] = await once(running.stdout, 'data')
    running.kill()
    await ended
    expect(String(first)).toMatch(/^Running the tests whose paths contain no\/such\/path\.\n/)
  })
})
