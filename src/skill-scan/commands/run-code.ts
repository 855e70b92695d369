import { isForge, isInstaller, isPlaceholder } from './addresses.ts'
import { type Trait, textValue, traitOf, type Value } from './value.ts'
import type { World } from './world.ts'

const unseen = 'Code from the network is run without being looked at.'

/** Reports code that is run that no one has seen: by its traits, or those of its file. */
export const runCode = {
  /** Code that a program is given as a text or as its input. */
  value(world: World, value: Value): void {
    const encoded = traitOf(value, 'decoded')
    if (encoded !== undefined)
      world.report({ code: 'encoded_command', message: 'An encoded command is decoded and run.' })
    const remote = traitOf(value, 'remote', 'unpacked')
    if (remote !== undefined) ran(world, remote, false)
  },

  file(world: World, path: string): void {
    const own = world.traitsAt(path)
    const isRelative = !/^(?:[/~$\\]|[a-z]:)/iu.test(path) && /[/.]/u.test(path)
    const traits = own.length > 0 ? own : isRelative ? world.unpacked : []
    const value = textValue('', traits)
    if (traitOf(value, 'decoded') !== undefined)
      world.report({ code: 'encoded_command', message: 'An encoded program is decoded and run.' })
    const remote = traitOf(value, 'remote', 'unpacked')
    if (remote !== undefined) ran(world, remote, true)
  },
}

const ran = (world: World, { from, kind }: Trait, isFile: boolean): void => {
  if (isInstaller(from)) {
    const message = 'An installer from the network is run without being looked at.'
    world.report({ code: 'remote_code_installer', severity: 'warning', message })
  } else if (isPlaceholder(from)) {
    // what names no machine describes a command, and runs nothing
    world.report({ code: 'remote_code', severity: 'info', message: unseen })
  } else {
    const isRelease = isFile && isForge(from) && (kind === 'unpacked' || /\/releases\/|\/archive\//u.test(from))
    world.report({
      code: 'remote_code',
      severity: isRelease || world.isVerified ? 'warning' : 'blocker',
      message: unseen,
    })
  }
}
