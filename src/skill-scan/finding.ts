/** Severity of a finding; a blocker prevents a skill from being published. */
export type Severity = 'info' | 'warning' | 'blocker'

/** A finding in a file of a skill. */
export type SkillFinding = {
  readonly severity: Severity
  readonly code: string
  /** Path of the file within the skill. */
  readonly path: string
  /** Line number, from 1. */
  readonly line: number
  readonly message: string
}

/** A file of a skill. `text` is null for bytes that are not UTF-8 text. */
export interface SkillFile {
  readonly path: string
  readonly bytes: number
  readonly text: string | null
  /** The first bytes, by which formats are recognised. */
  readonly head: Uint8Array
}

/** A match of a rule in a text. */
export interface Match {
  readonly severity: Severity
  readonly code: string
  readonly message: string
  /** Offset in the scanned text. */
  readonly at: number
  readonly length: number
  /** Whether the act is to leave something undone, so that a "not" before it forbids nothing. */
  readonly isOmission?: boolean
  /** Whether it counts wherever it stands, also in a quotation. */
  readonly isLiteral?: boolean
}

/** A rule against content that a skill should not have. */
export interface Rule {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  /** Has the flag `g`, and takes time linear in its input. */
  readonly pattern: RegExp
  /** Whether a match that only describes the attack, to teach or detect it, is downgraded to a warning. */
  readonly quotable: boolean
  /** Whether a match counts; when absent, all do. */
  readonly holds?: (match: RegExpMatchArray) => boolean
}
