/** How much a finding weighs: a blocker keeps a skill from being published. */
export type Severity = 'info' | 'warning' | 'blocker'

/** Something that a scan saw in a file of a skill. */
export type SkillFinding = {
  readonly severity: Severity
  readonly code: string
  /** Path of the file within the skill. */
  readonly path: string
  /** Counted from 1. */
  readonly line: number
  readonly message: string
}

/** A file of a skill. `text` is null for bytes that are no UTF-8 text. */
export interface SkillFile {
  readonly path: string
  readonly bytes: number
  readonly text: string | null
  /** The first bytes, by which formats are known. */
  readonly head: Uint8Array
}

/** A place in a text that a rule matched. */
export interface Match {
  readonly severity: Severity
  readonly code: string
  readonly message: string
  /** Offset in the text that was scanned. */
  readonly at: number
  readonly length: number
}

/** A pattern of something that a skill should not say. */
export interface Rule {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  /** With the flag `g`; linear in its input. */
  readonly pattern: RegExp
  /** Text that speaks about the attack, to teach or to detect it, is only warned of. */
  readonly quotable: boolean
  /** Whether a match counts; all do when absent. */
  readonly holds?: (match: RegExpMatchArray) => boolean
}
