import { encodedTexts } from './encoded-text.ts'
import { fileFindings, maxScannedCharacters } from './file-rules.ts'
import type { Match, Rule, SkillFile, SkillFinding } from './finding.ts'
import { concealed, hiddenText } from './hidden-text.ts'
import { lineAt, plainText } from './plain-text.ts'
import { commandRules } from './rules/commands.ts'
import { exfiltrationRules } from './rules/exfiltration.ts'
import { injectionRules } from './rules/injection.ts'
import { secretRules } from './rules/secrets.ts'
import { speechOf } from './speech.ts'

const rules: readonly Rule[] = [...injectionRules, ...commandRules, ...exfiltrationRules, ...secretRules]

/** Maximum number of findings per rule and file. */
const mostOfARule = 20
const mostFindings = 500

/**
 * Scans the files of a skill for content that its user would not want: instructions against the user, hidden
 * characters, secrets, dangerous commands, links that exfiltrate data, and unreadable files. Pure, and linear in the
 * size of the files.
 *
 * A scan proves nothing: a publisher still has to read the skill.
 *
 * @returns findings by file and line; when there are more than 500, the most severe 500, blockers first.
 */
export const scanSkill = (files: readonly SkillFile[]): readonly SkillFinding[] => {
  const all = files.flatMap((file) => [...fileFindings(file), ...textFindings(file)])
  if (all.length <= mostFindings) return all
  return [...all].sort((a, b) => weight(b) - weight(a)).slice(0, mostFindings)
}

const weight = ({ severity }: SkillFinding): number => ['info', 'warning', 'blocker'].indexOf(severity)

const textFindings = ({ path, text }: SkillFile): readonly SkillFinding[] => {
  if (text === null || text.length > maxScannedCharacters) return []
  const plain = plainText(text)
  const found = [
    ...hiddenText(text).map((match) => ({ ...match, line: lineAt(text, match.at) })),
    ...[...matchesOf(plain), ...encodedMatches(plain), ...concealedMatches(plain)].map((match) => ({
      ...match,
      line: lineAt(plain, match.at),
    })),
  ]
  return once(found).map(({ severity, code, message, line }) => ({ severity, code, path, line, message }))
}

const matchesOf = (text: string): readonly Match[] => {
  const speaksAbout = speechOf(text)
  return rules.flatMap(({ code, message, pattern, severity, quotable, holds = () => true }) =>
    [...text.matchAll(pattern)]
      .filter(holds)
      .slice(0, mostOfARule)
      .map(({ 0: { length }, index: at }): Match => {
        const isQuoted = severity === 'blocker' && quotable && speaksAbout(at, length)
        return { severity: isQuoted ? 'warning' : severity, code, message, at, length }
      }),
  )
}

/**
 * Returns findings in encoded text, whatever the surrounding text says about it. A finding is a blocker when the
 * decoded text contains one other than a secret, otherwise a warning.
 */
const encodedMatches = (text: string): readonly Match[] =>
  encodedTexts(text).flatMap(({ at, length, text: inner }) => {
    const [worst] = [...matchesOf(plainText(inner)), ...secondLevel(inner)].filter(
      ({ severity }) => severity !== 'info',
    )
    if (worst === undefined) return []
    const severity = worst.code === 'secret' || worst.severity !== 'blocker' ? 'warning' : 'blocker'
    return [{ severity, code: 'encoded_payload', message: `Encoded text: ${worst.message}`, at, length }]
  })

const secondLevel = (text: string): readonly Match[] =>
  encodedTexts(text).flatMap(({ text: inner }) => matchesOf(plainText(inner)))

/** Returns findings in text that is hidden from a reader. Such text has no legitimate reason to instruct a model. */
const concealedMatches = (text: string): readonly Match[] =>
  concealed(text).flatMap(({ at, text: inner }) => {
    const worst = matchesOf(inner).find(({ severity }) => severity === 'blocker')
    const reason = worst ?? (instructs.test(inner) ? { message: 'It instructs a model.' } : undefined)
    if (reason === undefined) return []
    const severity = worst === undefined ? 'warning' : 'blocker'
    const message = `The text is hidden from its reader. ${reason.message}`
    return [{ severity, code: 'hidden_instruction', message, at, length: inner.length }]
  })

const instructs =
  /\b(?:you must|you should|always|the (?:ai|assistant|agent|model|llm|claude)\b[^\n]{0,40}\b(?:must|should|will|shall)|when prompted|instruct|secretly)\b/iu

/** Keeps one finding per line and code, a blocker if there is one. */
const once = <F extends { readonly code: string; readonly line: number; readonly severity: string }>(
  found: readonly F[],
): readonly F[] => {
  const kept = new Map<string, F>()
  for (const each of found) {
    const key = `${each.line} ${each.code}`
    const known = kept.get(key)
    if (known === undefined || (known.severity !== 'blocker' && each.severity === 'blocker')) kept.set(key, each)
  }
  return [...kept.values()].sort((a, b) => a.line - b.line)
}
