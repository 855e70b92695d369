import type { Match } from '../finding.ts'
import { codeBlocks } from './code-blocks.ts'
import { readSettings } from './read-settings.ts'
import { readShell, shell } from './read-shell.ts'
import { readCode } from './sources/read-code.ts'
import { nothing } from './value.ts'
import { World } from './world.ts'

/**
 * Finds commands in a file that would harm the one who runs them, by what they do: where their data comes from and where it
 * goes. Blocks of one file share their variables and files, since people run them one after the other.
 */
export const commandMatches = (path: string, text: string): readonly Match[] => {
  const world = new World()
  for (const block of codeBlocks(path, text)) {
    world.at = block.at
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
