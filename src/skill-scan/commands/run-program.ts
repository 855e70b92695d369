import type { Program, ProgramCall, Shell } from './program-call.ts'
import { containers } from './programs/containers.ts'
import { destruction } from './programs/destruction.ts'
import { downloads } from './programs/downloads.ts'
import { interpreters } from './programs/interpreters.ts'
import { packages } from './programs/packages.ts'
import { reading } from './programs/reading.ts'
import { schedules } from './programs/schedules.ts'
import { senders } from './programs/senders.ts'
import { system } from './programs/system.ts'
import { wrappers } from './programs/wrappers.ts'
import { runCode } from './run-code.ts'
import { nothing, traitOf, type Value } from './value.ts'

const families: readonly Program[] = [
  wrappers,
  interpreters,
  downloads,
  senders,
  packages,
  containers,
  schedules,
  system,
  destruction,
  reading,
]

/** Reads the call of a program: what it would do is reported, and what it would print is returned. */
export const runProgram = (
  words: readonly Value[],
  from: Pick<ProgramCall, 'world' | 'input' | 'hasInput'>,
  shell: Shell,
): Value => {
  const [first, ...args] = words
  if (first === undefined || first.text === '') return first === undefined ? nothing : runsValue(first, from)
  // a word that holds a whole command, as "$a $b" does, is split as a shell does
  const [path = '', ...more] = first.text.trim().split(/\s{1,8}/u)
  const split = more.map((text) => ({ text, traits: [] }))
  const name = (path.split(/[/\\]/u).at(-1) ?? '').toLowerCase().replace(/\.exe$/u, '')
  const call: ProgramCall = { ...from, name, path, args: [...split, ...args], shell }
  runsValue(first, from)
  runsFile(call)
  for (const family of families) {
    const value = family(call)
    if (value !== undefined) return value
  }
  return nothing
}

/** Reports a command whose name itself comes from elsewhere, as in `$(echo … | base64 -d)`. */
const runsValue = (first: Value, { world }: Pick<ProgramCall, 'world'>): Value => {
  const trait = traitOf(first, 'remote', 'decoded')
  if (trait?.kind === 'decoded')
    world.report({ code: 'encoded_command', message: 'An encoded command is decoded and run.' })
  if (trait?.kind === 'remote')
    world.report({ code: 'remote_code', message: 'Code from the network is run without being looked at.' })
  return nothing
}

/** Reports a file that is run after it was downloaded or decoded. */
const runsFile = ({ path, world }: ProgramCall): void => {
  if (!path.includes('/') && world.traitsAt(path).length === 0) return
  runCode.file(world, path)
}
