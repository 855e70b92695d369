import type { Match } from '../finding.ts'
import { codeBlocks } from './code-blocks.ts'
import { readSettings } from './read-settings.ts'
import { readShell, shell } from './read-shell.ts'
import { readCode } from './sources/read-code.ts'
import { nothing } from './value.ts'
import { World } from './world.ts'

const today =
  /(?:date\.today\(\)|datetime\.(?:now|utcnow|today)\([^)\n]{0,20}\)|Date\.now\(\)|new Date\(\)|\btime\.time\(\)|\$\(date\b[^)\n]{0,40}\))["']?\s{0,4}(?:[<>]=?|-g[te]|-l[te])[^\n]{0,60}20\d\d/u
const destroys =
  /\btruncate\s{1,4}table\b|\bdrop\s{1,4}(?:table|database|schema)\b|\brmtree\(|\bunlink(?:Sync)?\(|\brm(?:dir)?Sync\(|\brm\s{1,4}-\w{0,4}r|\bdeleteMany\(/iu

/** Whether a program destroys something if today is after a day that stands in it. */
const isTimed = (text: string): boolean => {
  const { index = -1 } = today.exec(text) ?? {}
  const rest = index < 0 ? '' : text.slice(index, index + 600)
  const line = /^[^\n]{0,600}/u.exec(rest)?.[0] ?? ''
  return destroys.test(/(?:[{:]|then)\s{0,8}$/u.test(line) ? rest : line)
}

/** Returns the lines of a script of PowerShell that call the programs of Windows, which a shell reads too; others are blank. */
const administration = (text: string): string =>
  text
    .split('\n')
    .map((line) => (administers.test(line) ? line.replaceAll('\\', '/') : ' '.repeat(line.length)))
    .join('\n')

const administers =
  /^\s{0,16}(?:netsh|reg|sc|schtasks|net|wevtutil|vssadmin|wbadmin|bcdedit|add-mppreference|set-mppreference|set-executionpolicy)(?:\.exe)?\s/iu

/**
 * Finds commands in a file that would harm the one who runs them, by what they do: where their data comes from and where it
 * goes. Blocks of one file share their variables and files, since people run them one after the other.
 */
export const commandMatches = (path: string, text: string): readonly Match[] => {
  const world = new World()
  for (const block of codeBlocks(path, text)) {
    world.at = block.at
    if (isTimed(block.text))
      world.report({ code: 'destructive_command', message: 'From a certain day on, data is destroyed.' })
    if (block.kind === 'powershell') readShell(administration(block.text), world, block.at)
    if (block.kind === 'shell') readShell(block.text, world, block.at)
    else if (block.kind === 'settings') readSettings(block.text, world, block.at)
    else
      readCode(block.kind === 'powershell' ? 'other' : block.kind, block.text, {
        world,
        shell,
        input: nothing,
        base: block.at,
      })
  }
  return world.reports
}
