import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pythonPackages } from './pythons.ts'

const sources = resolve('packages/python/src')
const settings = resolve('packages/python/pyproject.toml')
const packages = [pythonPackages('python-client', 'requirements.txt'), pythonPackages('mypy', 'types.txt')]
const cache = resolve('.cache/mypy')

/** Says what mypy finds in files, beside the client itself. */
const findings = (...paths: readonly string[]): string => {
  mkdirSync(cache, { recursive: true })
  const env = {
    PATH: process.env.PATH,
    PYTHONPATH: packages.join(':'),
    MYPYPATH: sources,
    PYTHONDONTWRITEBYTECODE: '1',
  }
  const args = ['-m', 'mypy', '--config-file', settings, '--cache-dir', cache, '--no-error-summary', ...paths]
  const { status, stdout, stderr } = spawnSync('python3', args, { encoding: 'utf8', env })
  return status === 0 ? '' : stdout + stderr
}

/** Writes programs into one folder. @returns their paths. */
const programs = (...texts: readonly string[]): readonly string[] => {
  const folder = mkdtempSync(join(tmpdir(), 'typed-'))
  return texts.map((text, at) => {
    const path = join(folder, `program_${at}.py`)
    writeFileSync(path, text)
    return path
  })
}

const exhausting = (left: readonly string[]) => `from typing_extensions import assert_never

from troupe import ${['OutputTextDelta', 'SessionEvent', ...left].join(', ')}


def length(event: SessionEvent) -> int:
    match event:
        case OutputTextDelta():
            return len(event.delta)
        case ${left.map((each) => `${each}()`).join(' | ')}:
            return event.id
        case _:
            assert_never(event)
`

describe.skipIf(packages.includes(null))('the types of the client for Python', () => {
  it('are strict, in the client, its tests, the example, and every block of its page', () => {
    const page = readFileSync('packages/python/README.md', 'utf8')
    const blocks = [...page.matchAll(/^```python\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
    expect(blocks).toHaveLength(6)
    const paths = [sources, join(import.meta.dirname, 'program.py'), 'examples/policy-worker/worker.py']
    expect(findings(...paths, ...programs(...blocks))).toBe('')
  })

  it('let a program handle every event, and find the one that it leaves out', () => {
    const classes = /^@dataclass.*\nclass (\w+)\(LogEvent\):/gm
    const names = [...readFileSync(join(sources, 'troupe/events.py'), 'utf8').matchAll(classes)]
    const others = names.map(([, name = '']) => name).filter((name) => name !== 'OutputTextDelta')
    expect(others.length).toBeGreaterThan(10)
    expect(findings(...programs(exhausting(others)))).toBe('')
    expect(findings(...programs(exhausting(others.slice(1))))).toContain(`"${others[0]}"; expected "Never"`)
  })
})
