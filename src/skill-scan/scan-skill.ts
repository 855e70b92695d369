import { commandMatches } from './commands/command-matches.ts'
import { encodedTexts } from './encoded-text.ts'
import { fileFindings, maxScannedCharacters } from './file-rules.ts'
import type { Match, Rule, SkillFile, SkillFinding } from './finding.ts'
import { concealed, hiddenText, uncovered } from './hidden-text.ts'
import { isEarnest, meaningMatches } from './meaning/meaning-matches.ts'
import { lineAt, plainText } from './plain-text.ts'
import { commandRules } from './rules/commands.ts'
import { exfiltrationRules } from './rules/exfiltration.ts'
import { injectionRules } from './rules/injection.ts'
import { secretRules } from './rules/secrets.ts'
import { isAboutSecurity, isOfOption, speechOf } from './speech.ts'

const rules: readonly Rule[] = [...injectionRules, ...commandRules, ...exfiltrationRules, ...secretRules]

/** Maximum number of findings per rule and file. */
const maxPerRule = 20
const maxFindings = 500

/**
 * Scans the files of a skill for content that its user would not want: commands by what they do, instructions by what
 * they mean, hidden characters, secrets, links that exfiltrate data, and unreadable files. Pure, and linear in the size of
 * the files.
 *
 * A scan proves nothing: a publisher still has to read the skill.
 *
 * @returns findings by file and line; when there are more than 500, the most severe 500, blockers first.
 */
export const scanSkill = (files: readonly SkillFile[]): readonly SkillFinding[] => {
  const page = files.find(({ path }) => path === 'SKILL.md')?.text ?? ''
  const isSecurity = isAboutSecurity(page.slice(0, 8192))
  const all = files.flatMap((file) => [...fileFindings(file), ...textFindings(file, isSecurity)])
  if (all.length <= maxFindings) return all
  return [...all].sort((a, b) => weight(b) - weight(a)).slice(0, maxFindings)
}

const weight = ({ severity }: SkillFinding): number => ['info', 'warning', 'blocker'].indexOf(severity)

const textFindings = ({ path, text }: SkillFile, isSecurity: boolean): readonly SkillFinding[] => {
  if (text === null || text.length > maxScannedCharacters) return []
  const plain = plainText(text)
  const open = [...ruleMatches(plain), ...commandMatches(path, plain), ...meaningMatches(path, plain)]
  const found = [
    ...hiddenText(text).map((match) => ({ ...match, line: lineAt(text, match.at) })),
    ...[...spoken(plain, open, isSecurity), ...encodedMatches(plain), ...concealedMatches(plain)].map((match) => ({
      ...match,
      line: lineAt(plain, match.at),
    })),
  ]
  return once(found).map(({ severity, code, message, line }) => ({ severity, code, path, line, message }))
}

/** Returns what the rules match. */
const ruleMatches = (text: string): readonly Match[] =>
  rules.flatMap(({ code, message, pattern, severity, quotable, holds = () => true }) =>
    [...text.matchAll(pattern)]
      .filter(holds)
      .slice(0, maxPerRule)
      .map(
        ({ 0: { length }, index: at }): Match => ({
          ...{ severity, code, message, at, length, isLiteral: !quotable },
          isOmission: code === 'hides_from_user',
        }),
      ),
  )

/** Returns matches, with those blockers as warnings that the text only mentions: it forbids, quotes or documents them. */
const spoken = (text: string, matches: readonly Match[], isSecurity: boolean): readonly Match[] => {
  const speaksAbout = speechOf(text, isSecurity)
  return matches.map((match) =>
    match.severity === 'blocker' && match.isLiteral !== true && (speaksAbout(match) || isOfOption(text, match))
      ? { ...match, severity: 'warning' }
      : match,
  )
}

/** Returns what is found in a text that was hidden; no one quotes there. */
const hiddenMatches = (text: string): readonly Match[] => [
  ...spoken(text, ruleMatches(text), false),
  ...commandMatches('hidden.md', `\`\`\`sh\n${text}\n\`\`\``).map((match) => ({ ...match, at: 0 })),
  ...meaningMatches('hidden.md', text),
]

/**
 * Returns findings in encoded text, whatever the surrounding text says about it. A finding is a blocker when the
 * decoded text contains one other than a secret, otherwise a warning.
 */
const encodedMatches = (text: string): readonly Match[] =>
  encodedTexts(text).flatMap(({ at, length, text: inner }) => {
    const [worst] = [...hiddenMatches(plainText(inner)), ...secondLevel(inner)].filter(
      ({ severity }) => severity !== 'info',
    )
    if (worst === undefined) return []
    const severity = worst.code === 'secret' || worst.severity !== 'blocker' ? 'warning' : 'blocker'
    return [{ severity, code: 'encoded_payload', message: `Encoded text: ${worst.message}`, at, length }]
  })

const secondLevel = (text: string): readonly Match[] =>
  encodedTexts(text).flatMap(({ text: inner }) => hiddenMatches(plainText(inner)))

/** Returns findings in text that is hidden from a reader. Such text has no legitimate reason to instruct a model. */
const concealedMatches = (text: string): readonly Match[] =>
  gathered(concealed(text)).flatMap(({ at, text: hidden }) => {
    const inner = uncovered(hidden)
    const worst = hiddenMatches(inner).find(({ severity }) => severity === 'blocker')
    const isBlocked = worst !== undefined || isEarnest(inner)
    const reason = worst ?? (isBlocked || instructs.test(inner) ? { message: 'It instructs a model.' } : undefined)
    if (reason === undefined) return []
    const message = `The text is hidden from its reader. ${reason.message}`
    const severity = isBlocked ? 'blocker' : 'warning'
    return [{ severity, code: 'hidden_instruction', message, at, length: hidden.length }]
  })

/** Maximum number of hidden texts that are judged one by one; the others are judged as one. */
const maxHidden = 100

const gathered = (hidden: ReturnType<typeof concealed>): ReturnType<typeof concealed> => {
  const [next, ...others] = hidden.slice(maxHidden)
  if (next === undefined) return hidden
  const rest = [next, ...others].map(({ text }) => text).join('\n')
  return [...hidden.slice(0, maxHidden), { at: next.at, text: rest }]
}

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
