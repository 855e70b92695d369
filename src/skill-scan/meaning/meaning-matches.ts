import type { Match } from '../finding.ts'
import { type Concept, Reading } from './reading.ts'
import { type MeaningRule, meaningRules } from './rules.ts'
import { type Sentence, sentencesOf, spokenPart } from './sentences.ts'
import { namesElsewhere, namesSecretPlace } from './values.ts'

/** Maximum distance of sentences that are read together, in characters. */
const together = 700

/** Maximum number of matches of a rule in a file. Mentions count too, so it is more than a person would read. */
const maxPerRule = 200

/**
 * Finds what a text tells a model to do against its user, by meaning: who does what to what, in fourteen languages.
 * Neighbouring sentences count, since "it" may be what the sentence before names.
 */
export const meaningMatches = (path: string, text: string): readonly Match[] => {
  const sentences = sentencesOf(spokenPart(path, text))
  const counts = new Map<string, number>()
  return sentences.flatMap((sentence, index) => {
    const reading = new Reading(sentence.text)
    let around: Reading | undefined
    const near = (): Reading => {
      around ??= new Reading(aroundOf(sentences, index))
      return around
    }
    return meaningRules
      .filter((rule) => isOpen(counts, rule) && rule.says(reading, near()))
      .map((rule) => {
        counts.set(rule.message, (counts.get(rule.message) ?? 0) + 1)
        return matchOf(rule, reading, sentence.at)
      })
  })
}

/** Whether a rule may match once more; what says the same hundreds of times needs no more findings. */
const isOpen = (counts: ReadonlyMap<string, number>, { message }: MeaningRule): boolean =>
  (counts.get(message) ?? 0) < maxPerRule

/** The acts of which a finding speaks, by its code: whether it is quoted or forbidden depends on where they stand. */
const actsOf: Readonly<Record<string, readonly Concept[]>> = {
  prompt_injection: ['override', 'unlimited'],
  hides_from_user: ['conceal', 'tell', 'pretend'],
  bypasses_approval: ['assumed', 'unasked', 'skip', 'granted'],
  exfiltration: ['send', 'collect'],
  shadows_tool: ['discredit', 'swap', 'send'],
  redirects_money: ['swap', 'pay', 'collect'],
  redirects_links: ['swap'],
  grants_access: ['admit'],
  remote_instructions: ['obey'],
  remote_code: ['run'],
  destructive_instruction: ['destroy'],
}

const matchOf = ({ code, message, isOmission = false }: MeaningRule, reading: Reading, at: number): Match => {
  const act = (actsOf[code] ?? []).find((concept) => reading.has(concept))
  const [from, to] = (act === undefined ? undefined : reading.spans(act)[0]) ?? [0, reading.text.length]
  return { severity: 'blocker', code, message, at: at + from, length: to - from, isOmission }
}

const aroundOf = (sentences: readonly Sentence[], index: number): string => {
  const at = sentences[index]?.at ?? 0
  return sentences
    .slice(Math.max(0, index - 2), index + 2)
    .filter((each) => Math.abs(each.at - at) < together)
    .map(({ text }) => text)
    .join(' ')
}

/**
 * Whether a hidden text means what a model should do: a little of what an open text needs much more of, since no
 * comment for people speaks so.
 */
export const isEarnest = (text: string): boolean =>
  sentencesOf(text).some((sentence) => {
    const reading = new Reading(sentence.text)
    const isSecret =
      reading.hasAny('conceal', 'unasked', 'unlimited') || (reading.near('not', 'tell', 24) && reading.has('user'))
    const isLed =
      reading.near('override', 'rules', 60) ||
      reading.near('skip', 'approval', 45) ||
      reading.near('skip', 'safety', 45)
    const takes =
      reading.hasAny('send', 'collect', 'run') &&
      (namesElsewhere(reading) || namesSecretPlace(reading) || reading.has('secrets'))
    const isTold = reading.has('model', 'standing') && reading.hasAny('send', 'run', 'swap', 'pay', 'collect', 'obey')
    return isSecret || isLed || (takes && reading.hasAny('model', 'standing', 'send', 'run')) || isTold
  })
