import { attributeOf } from './attributes.ts'
import { monthOf } from './calendar.ts'
import { isAiling, isTrait } from './conditions.ts'
import { recurs } from './schedules.ts'
import { isProper, type Token, textOfTokens } from './tokens.ts'
import { isRole } from './words.ts'

/** What a sentence states for longer than its conversation. */
interface Lasting {
  readonly relation: 'instruction' | 'rule' | 'deadline' | 'about'
  readonly object: string
}

/** A sentence in lower case, its words apart: contractions are two words, commas and colons words of their own. */
interface Sentence {
  readonly low: string
  readonly tokens: readonly Token[]
}

type Reading = (sentence: Sentence) => boolean

const [maxWords, maxText] = [60, 1_000]

/** An order, behind the beginning of a clause, with the adverb before it. */
const order =
  /(?:^|[,:] |\b(?:and|but|so|or|then|please|pls|just|on|onwards|henceforth|forward|future) )(do not ever |only ever |do not |never |always |only )?(?:use|write|put|make|give|keep|call|answer|reply|respond|format|avoid|skip|stop|drop|include|add|send|ask|show|speak|talk|explain|cite|quote|start|begin|end|leave|push|commit|merge|deploy|book|schedule|plan|round|convert|translate|spell|sign|address|refer|mention|assume|treat|stick|list|save|store|return|document|delete|touch|change|suggest|recommend|offer|propose|apologi[sz]e|say|set|cc|copy|bill|charge|order|buy|name|reference|interrupt|remind|adding|using|writing)\b( any(?:thing)?\b)?/gu

const standing =
  /\b(?:from (?:now|here|today) on(?:wards?)?|henceforth|going forward|in (?:the )?future|at all times|every time|each time|for good|once and for all|under (?:no|any) circumstances|no exceptions?|without exceptions?|as a rule|by default|ever again|in (?:anything|everything|all (?:my|our|your)|any of (?:my|our|your))|(?:of|in|to|with|for) (?:every|each|all) (?:[\w-]+ )?(?:answers?|repl(?:y|ies)|responses?|messages?|e-?mails?|texts?|documents?|docs|drafts?)|in (?:this|our|my) (?:company|team|house|household|family|school|office|country|codebase|repo|industry)|house (?:style|rules?))\b/u
const manner =
  /(?:^|[,:] |\b(?:and|please) )(?:address me|(?:think of|treat|consider) me as)\b|\b(?:do not need to|need not|can skip|do not have to) explain|\b(?:nothing|no) [\w ]{2,30} for me\b|\b(?:i|we) would rather (?!you|use|do|this|that|it|the|not)|^always (?!an? |the |here|there|been|good|nice|happy|wanted)[\w-]+(?: ,|$)/u
const brief =
  /^(?:please |pls )?((?:no|only|just|always|short|shorter|brief|concise|terse|simple|plain|longer|detailed|formal|informal|british|american|metric) (?:[\w-]+ ){0,2})?(?:answers?|replies|responses?|citations?|references?|emojis?|emoticons?|jargon|slang|tables?|bullets?|bullet points|headings?|lists?|apologies|small talk|preambles?|fluff|filler|markdown|abbreviations|acronyms|exclamation marks?|puns?|jokes?|metaphors?|analogies|semicolons|lectures|disclaimers|spoilers|sentences?|explanations?|english|spelling|language|tone|units?|dates?|times?|amounts|prices|comments|temperatures?|distances?|weights?|code comments)\b( (?:as|in|with|without) )?(?! :)/u
const verbless =
  /^(?!.{0,400}\b(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|fails?|works?|shows?)\b)/u

/** An order for later, as opposed to a task of the moment: "never use pie charts", "dates as YYYY-MM-DD". */
const isInstruction: Reading = ({ low, tokens }) => {
  const orders = [...low.matchAll(order)]
  const isBrief =
    brief
      .exec(low)
      ?.slice(1)
      .some((part) => part !== undefined) === true
  return (
    manner.test(low) ||
    orders.some(([, how, any]) => /ever|always/u.test(how ?? '') || (how === 'do not ' && any !== undefined)) ||
    (orders.length > 0 && standing.test(low)) ||
    (isBrief && verbless.test(low.split(/ ,/u, 1).join(''))) ||
    (/\b(?:i|we) (?:would (?:like|prefer|love)|want|prefer|need)\b/u.test(low) &&
      (recurs(tokens) || standing.test(low)))
  )
}

const rules: readonly RegExp[] = [
  /\b(?:house (?:style|rules?)|company (?:policy|rules?)|our (?:policy|convention|rule|style guide|standard) (?:is|says)|(?:that|which) is our (?:policy|convention|rule|style)|no exceptions)\b/u,
  /\bwe (?:can not|may not|must not|are not allowed to|never) (?:use|store|send|share|install|ship|host|buy)\b[^,:]{0,30}\bany/u,
  /(?:^|[,:] )(?:in|at|on) (?:our|my|this) (?:[\w-]+ )?(?:company|team|house|household|family|school|office|country|codebase|repo|shop|business|industry|club)\b(?!.{0,300}\b(?:errors?|bugs?|issues?|problems?|exceptions?|fails?|warnings?|how|get|try|trying|want|need|there)\b).{0,200}\b(?:is|are|always|never|only|we|say|call)\b/u,
  /\bour (?:[\w-]+ ){1,5}(?:is|are) (?:all |only |still )?(?:locked|written|hosted|based|built|deployed|stored|kept|frozen|pinned|limited|signed|made|run|read-only|mostly|always|never|usually)\b/u,
  /(?:^|[,:] )our (?:[\w-]+ ){1,3}(?:starts|ends|opens|closes|uses|runs|sells|ships|has|operates|employs|serves|charges|supports|covers|begins|requires|forbids) (?!to\b|an? (?:error|bug|problem|issue))/u,
]

const universal =
  /(?:^|[,:] )(?:anything|everything|nothing|nobody|no one|everyone|everybody|all|every|any|each|only)\b(?! (?:i|you|we) (?:need|have|want) to)[^,:]{0,80}\b(?:must|may|needs? to|has to|have to|(?:is|are) allowed to|can not|gets?|goes? (?:to|through))\b/u
const ofOwn = /\b(?:our|us|we|me|my|mine|here|first|clients?|customers?|patients?|approve|approval)\b/u

const isRule: Reading = ({ low, tokens }) =>
  rules.some((rule) => rule.test(low)) ||
  (universal.test(low) && ofOwn.test(low)) ||
  (/\b(?:staging|production|prod)\b[^,:]{0,40} (?:is|are|runs?|has|have)\b/u.test(low) && recurs(tokens)) ||
  (/\b(?:standup|stand-up|meetings?|sync|retro|calls?|class|classes|lessons?|practice|rehearsals?|shifts?|training)\b[^:]{0,40} (?:is|are|falls?|starts?|happens|begins?|takes? place|moved)\b/u.test(
    low,
  ) &&
    recurs(tokens)) ||
  (recurs(tokens) &&
    /\b(?:is|are) with (?:me|us)\b|^(?:the|my|our) (?:kids|children|boys|girls|twins|baby) (?:is|are|go|have)\b/u.test(
      low,
    ))

const due =
  /(?:^|\b(?:is|are|baby|twins?) )due\b|\bdeadline\b|\b(?:has|have|needs?) to be\b|\bmust be\b|\bexpires?\b|\bwants? to (?:hear|know)\b/u

/** What is to be done by a day that has a name: "the thesis has to be there by 14 March". */
const isDeadline: Reading = ({ low, tokens }) =>
  due.test(low) &&
  /^due\b|\b(?:i|we|my|our|me|us)\b/u.test(low) &&
  !/\b(?:says?|said|according to)\b/u.test(low) &&
  tokens.some((token) => isProper(token) && monthOf(token.low) !== null)

const abouts: readonly RegExp[] = [
  /\b(?:i|we) (?:am|are) (?:saving(?: up)? for|learning|training for|studying for|expecting (?:a|our|twins|to)|renovating|raising|retraining|recovering from|applying (?:for|to)|leaning towards|writing (?:a|my) (?:[\w-]+ )?(?:novel|book|thesis|dissertation|memoir)|doing (?:a|my) (?:[\w-]+ )?(?:phd|master|masters|apprenticeship|degree)|trying to (?:quit|lose weight|conceive|cut))\b/u,
  /\b(?:i|we|my (?:parents|family|grandparents|father|mother)) (?:have )?(?:inherited|adopted|founded|emigrated|immigrated|retired|graduated|taught|gave up|given up)\b/u,
  /\b(?:i|we) have (?:swapped|switched|traded|given up|moved)\b.{1,80}\b(?:for|from|to|since)\b/u,
  /\bthere (?:are|is) (?:only |just )?[\w-]+ of us\b/u,
  /\bwe are (?:a|an) (?:[\w-]+ ){0,4}(?:shop|company|startup|start-up|charity|team|family|agency|school|ngo|non-profit|nonprofit|firm|business|studio|cooperative|co-op|practice|lab|bank|clinic|hospital|restaurant|couple|club)\b/u,
  /(?:^|, )i am the (?:only |new |lead |main )?(?!one\b|first\b|last\b|same\b|problem\b|king\b|queen\b)[\w-]+(?: [\w-]+)? (?:for|of|on|at|here)\b/u,
  /^(?:no|nope|actually|wait|sorry|btw)?(?: ,)? ?(?:it is|the) .{0,80}\b(?:my name|surname|last name|maiden name)\b.{0,80}\b(?:wrong|changed|spelled|spelt|now)\b|\b(?:the|my) (?:surname|last name|maiden name|name) (?:has )?(?:changed|is (?:spelled|spelt|now))\b/u,
  /\b(?:i|we) do not (?:(?:eat|drink|drive|own|celebrate|wear|speak) (?!it\b|this\b|that\b|the\b|any)|(?:have|own) (?:an?|any) (?:[\w-]+ )?(?:car|licen[cs]e|dog|cat|pets?|kids?|children|tv|account|card|smartphone|garden|budget|oven|freezer|printer|passport)\b)/u,
  /\bmy (?:[\w-]+ )?(?:budget|rate|rent|size|height|weight|income|username|handle|commute)\b[^,:]{0,40} (?:is|are)\b/u,
  /\bi am (?:never|always|only|usually|not) (?:available|free|reachable|around) (?:before|after|until|on|at|from)\b/u,
]

const families: ReadonlySet<string> = new Set(
  'partner mother father sister brother daughter son child relative grandmother grandfather pet manager landlord works_at team'.split(
    ' ',
  ),
)
const places: ReadonlySet<string> = new Set(
  'flat house apartment garden balcony kitchen office shop business practice studio farm workshop'.split(' '),
)
const unsettled =
  /\b(?:is|are) (?:not |so |very |really |a bit )?(?:\w+ing|sick|ill|tired|angry|mad|late|busy|asleep|awake|sad|upset|stuck|here|away|down|broken|red|wrong|ok|okay|fine|missing|empty|slow)\b|\b(?:wants?|needs?|thinks?|says?|said|asks?|asked|told|tells|sent|just|keeps?|fails?|crash\w*|breaks?|throws?|returns?|will|would|might|may|could|should|did|was|were|had|seems?)\b/u

/** "My wife handles the books": a person or a thing of the user's, with a verb of the present. */
const isOfOwn: Reading = ({ low, tokens }) => {
  const at = tokens.findIndex((token, index) => ['my', 'our'].includes(token.low) && isStart(tokens[index - 1]))
  const noun = tokens.slice(at + 1, at + 4).findIndex((_, index, words) => {
    const attribute = attributeOf(words.slice(0, index + 1).map((word) => word.low))
    return (attribute !== null && families.has(attribute.relation)) || places.has(words.at(index)?.low ?? '')
  })
  if (at < 0 || noun < 0 || unsettled.test(low)) return false
  const behind = tokens.slice(at + 2 + noun).filter((token) => !isProper(token))
  const verb = behind[0]?.low ?? ''
  return behind.length > 1 && /^(?:is|are|has|have|[a-z]{2,16}[^s]s)$/u.test(verb)
}

const isStart = (before: Token | undefined): boolean =>
  before === undefined || /^(?:[,:]|and|but|so|because|since|as|btw|hi|hey)$/u.test(before.low)

const people = /\b(?:person|parent|mum|mom|mother|dad|father|student|beginner|wheelchair user)$/u

/** "As the only nurse here I …", "being diabetic makes …": what its user is, as the reason for the rest. */
const isSelf: Reading = ({ low }) => {
  const self =
    /^as (?:an?|the|one of the) (?:only |new |former |fellow )?([\w -]{2,60}?) (?:(?:in|at|of|for|with|on|who) |(?:, )?(?:i|we|my)\b)/u.exec(
      low,
    )?.[1] ?? /^being (?:an? )?([\w -]{2,60}?) (?:makes?|means?|,)/u.exec(low)?.[1]
  const words = self?.split(' ') ?? []
  return words.length > 0 && (people.test(self ?? '') || isRole(words) || isAiling(words) || isTrait(words))
}

/** "Everything lives in Shortcut", "Figma everywhere": what is used, by its name. */
const isUsed: Reading = ({ tokens, low }) => {
  const found =
    /\beverything(?: (?:i|we) (?:have|own|use|run))? (?:is|lives|runs|sits|happens)(?: (?:in|on|with))? /u.exec(low)
  const at =
    found === null
      ? -1
      : low
          .slice(0, found.index + found[0].length)
          .trim()
          .split(' ').length
  const everywhere = tokens.findIndex((token) => token.low === 'everywhere')
  return [tokens[at], tokens[everywhere - 1]].some(
    (token) => token !== undefined && isProper(token) && !/^ok/u.test(token.low),
  )
}

const isAbout: Reading = (sentence) =>
  abouts.some((about) => about.test(sentence.low)) || isSelf(sentence) || isUsed(sentence) || isOfOwn(sentence)

const readings: readonly (readonly [relation: Lasting['relation'], reading: Reading])[] = [
  ['instruction', isInstruction],
  ['rule', isRule],
  ['deadline', isDeadline],
  ['about', isAbout],
]

/** Something to be made or done now: "write a haiku", "draft a reminder". */
const task =
  /^(?:please |pls |can you |could you |now |then |ok |okay )?(?:write|draft|compose|create|generate|invent|make|give|show|tell|find|list|suggest|explain|describe|design|build|implement|add|run|check|open|fix|compare|calculate|define|name) (?:me |us |up )?(?:a|an|some|the|this|that|these|those|it|one|two|three|five|ten|\d+|how|why|what)\b/u

/** Returns what a sentence orders or states for good, beyond the facts that have a pattern; null for most. */
export const lastingOf = (tokens: readonly Token[]): Lasting | null => {
  const start = tokens.findIndex(({ low }) => !openings.has(low))
  const rest = tokens.slice(Math.max(0, start))
  const low = rest.map((token) => token.low).join(' ')
  if (rest.length < 2 || rest.length > maxWords || low.length > maxText || (task.test(low) && !standing.test(low)))
    return null
  const found = readings.find(([, reading]) => reading({ low, tokens: rest }))
  return found === undefined ? null : { relation: found[0], object: textOfTokens(rest) }
}

const openings: ReadonlySet<string> = new Set(
  ', : and but so also oh well yes yeah btw ok okay fyi hi hello hey seriously anyway actually sorry morning lol haha'.split(
    ' ',
  ),
)
