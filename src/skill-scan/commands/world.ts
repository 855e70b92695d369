import type { Match, Severity } from '../finding.ts'
import { secretPlaceIn } from './secret-places.ts'
import { nothing, type Trait, textValue, type Value } from './value.ts'

/** A dangerous effect of a command. */
export interface Verdict {
  readonly code: string
  readonly message: string
  readonly severity?: Severity
}

const maxSteps = 20_000
const maxReports = 200
const deepest = 12

/** What commands that were read one after the other have left behind: variables, files, and what was found. */
export class World {
  readonly variables = new Map<string, Value>()
  readonly files = new Map<string, readonly Trait[]>()
  /** Traits of files whose names are not known: those of archives and repositories. */
  unpacked: readonly Trait[] = []
  /** Whether a checksum or a signature was checked before. */
  isVerified = false
  /** Whether the packages of the user were listed before. */
  isListing = false
  /** Names of packages that are spelt almost as well known ones. */
  readonly misspelt = new Set<string>()
  /** Offset of the command that is read, in the text of the file. */
  at = 0
  readonly #reports: Match[] = []
  #steps = 0
  #depth = 0

  get reports(): readonly Match[] {
    return this.#reports
  }

  /** Records a dangerous effect of the current command. */
  report({ code, message, severity = 'blocker' }: Verdict): void {
    if (this.#reports.length < maxReports) this.#reports.push({ severity, code, message, at: this.at, length: 1 })
  }

  /** Counts a command; whether there is room for another one. Reading ends on texts that are made to be endless. */
  step(): boolean {
    this.#steps += 1
    return this.#steps <= maxSteps
  }

  /** Reads something within something; gives nothing when it is too deep. */
  within(read: () => Value): Value {
    if (this.#depth >= deepest) return nothing
    this.#depth += 1
    try {
      return read()
    } finally {
      this.#depth -= 1
    }
  }

  /** Records that a file gets a content. */
  write(path: string, { traits }: Value): void {
    if (traits.length > 0) this.files.set(fileKey(path), traits)
  }

  /** Returns the content of the files that a text names, as far as they are known. */
  named(text: string): Value {
    const secret = secretPlaceIn(text)
    const own: readonly Trait[] = secret === undefined ? [] : [{ kind: 'secret', from: secret }]
    return textValue('', [...own, ...text.split(' ').flatMap((path) => this.traitsAt(path))])
  }

  /** Returns the traits of a file's content. */
  traitsAt(path: string): readonly Trait[] {
    return this.files.get(fileKey(path)) ?? []
  }
}

/** Returns a path by which a file is known: without quotes, and relative to the folder of the commands. */
const fileKey = (path: string): string => path.replace(/^["']|["']$/gu, '').replace(/^\.\//u, '')
