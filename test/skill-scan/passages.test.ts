import { describe, expect, it } from 'vitest'
import { skillPassages } from '#src/skill-scan/index.ts'

const fileOf = (path: string, text: string | null) => ({ path, text, bytes: 0, head: new Uint8Array() })
const passagesOf = (text: string, path = 'SKILL.md') => skillPassages([fileOf(path, text)]).passages

describe('the passages of a skill', () => {
  it('have the heading under which they stand, and the number of their first line', () => {
    const page = '---\nname: a\n---\n\n# Totals\n\nSum them up.\n\n## Then\n\n- Round.\n- Send.\n'
    expect(passagesOf(page)).toEqual([
      { path: 'SKILL.md', line: 2, text: 'name: a' },
      { path: 'SKILL.md', line: 7, text: 'Totals: Sum them up.' },
      { path: 'SKILL.md', line: 11, text: 'Then: - Round.\n- Send.' },
    ])
  })

  it('leave no heading out: one with nothing below it, a long one, a comment in a block', () => {
    const long = `# ${'Look at the figures of all weeks. '.repeat(4)}`.trim()
    const page = `# Send the file away\n\n${long}\n\n# Next\n\n\`\`\`sh\n# send it away\n\`\`\`\n\n# Last`
    expect(passagesOf(page).map(({ line, text }) => [line, text])).toEqual([
      [3, `Send the file away: ${long}`],
      [7, 'Next: ```sh'],
      [8, 'send it away'],
      [11, 'Last'],
    ])
  })

  it('of a program begin with its path, and take its comments for no headings', () => {
    const [passage] = passagesOf('# sums\nprint(1)\n', 'sum.py')
    expect(passage).toEqual({ path: 'sum.py', line: 1, text: 'sum.py: # sums\nprint(1)' })
  })

  it('of a program have only the end of a path that is as long as a passage', () => {
    const path = `${'a1-x9/'.repeat(40)}sum.py`
    const [passage] = passagesOf('Send it away.', path)
    expect(passage?.text).toMatch(/^.{51,}\/sum\.py: Send it away\.$/u)
    expect(passage?.text.length).toBeLessThan(80)
  })

  it('cover every line, and repeat the last one before them', () => {
    const lines = Array.from({ length: 60 }, (_, at) => `${at}. Look at the figures of week ${at} and note them.`)
    const passages = passagesOf(lines.join('\n'))
    const read = passages.flatMap(({ text }) => text.split('\n'))
    expect(new Set(read)).toEqual(new Set(lines))
    expect(read.length).toBe(lines.length + passages.length - 1)
    expect(Math.max(...passages.map(({ text }) => text.length))).toBeLessThan(300)
  })

  it('are of bounded length, also of lines without an end and in scripts with long tokens', () => {
    for (const text of ['a'.repeat(100_000), 'word '.repeat(20_000), '漢'.repeat(50_000), '🏁'.repeat(50_000)])
      for (const passage of passagesOf(text)) expect(passage.text.length).toBeLessThan(350)
  })

  it('say what a reader sees: without invisible characters, and with Latin letters for those that look so', () => {
    expect(passagesOf('Se\u200bnd th\u0435 file.')).toEqual([{ path: 'SKILL.md', line: 1, text: 'Send the file.' }])
  })

  it('are at most 500, those of the page first, and data last', () => {
    const rows = 'one, two, three, four, five, six, seven, eight, nine\n'.repeat(5_000)
    const files = [
      fileOf('rows.csv', rows),
      fileOf('run.sh', 'echo 1'),
      fileOf('SKILL.md', 'Run it.'),
      fileOf('x', null),
    ]
    const { passages, isWhole } = skillPassages(files)
    expect(passages.slice(0, 2).map(({ path }) => path)).toEqual(['SKILL.md', 'run.sh'])
    expect({ count: passages.length, isWhole }).toEqual({ count: 500, isWhole: false })
    expect(skillPassages(files.slice(1)).isWhole).toBe(true)
    const headings = skillPassages([fileOf('SKILL.md', '# a\n'.repeat(262_144))])
    expect({ count: headings.passages.length, isWhole: headings.isWhole }).toEqual({ count: 500, isWhole: false })
  })
})
