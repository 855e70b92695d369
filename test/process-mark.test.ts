import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { hasEnded, processMark } from '#src/process-mark.ts'

describe.runIf(process.platform === 'linux')('the mark of a process', () => {
  const children: ChildProcess[] = []
  const started = async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' })
    children.push(child)
    await once(child, 'spawn')
    return { child, mark: processMark(child.pid) ?? '' }
  }
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })

  it('is constant while the process lives, and unique to it', async () => {
    const [one, other] = [await started(), await started()]
    expect(processMark()).toBe(processMark())
    expect(new Set([processMark(), one.mark, other.mark]).size).toBe(3)
    expect([processMark() ?? '', one.mark, other.mark].map(hasEnded)).toEqual([false, false, false])
  })

  it('reports that a killed process has ended', async () => {
    const { child, mark } = await started()
    child.kill('SIGKILL')
    await vi.waitFor(() => expect(hasEnded(mark)).toBe(true), { timeout: 30_000 })
  })

  it('does not report a stopped process as ended', async () => {
    const { child, mark } = await started()
    child.kill('SIGSTOP')
    expect(hasEnded(mark)).toBe(false)
  })

  it('reports that a process has ended if its pid now belongs to another process', () => {
    const [boot, space, pid, began] = (processMark() ?? '').split(' ')
    expect(hasEnded([boot, space, pid, Number(began) - 1].join(' '))).toBe(true)
  })

  it.each([
    ['another machine', (mark: string) => mark.replace(/^\S+/, '00000000-0000-0000-0000-000000000000')],
    ['another container', (mark: string) => mark.replace(/pid:\[\d+\]/, 'pid:[1]')],
    ['another release', (mark: string) => `${mark} more`],
    ['nothing', () => ''],
  ])('reports no end for a mark of %s', (_, changed) => {
    const gone = (processMark() ?? '').replace(/ \d+ \d+$/, ' 4194304 1')
    expect(hasEnded(gone)).toBe(true)
    expect(hasEnded(changed(gone))).toBe(false)
  })
})
