const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '))

/** Endings of the names of illnesses; what has them too and is none is left out. */
const illnessEndings =
  /(?:itis|(?<!gn)osis|(?<!cad)(?:ae|e)mia|(?:n|ph|el|uc)oma|algia|opathy|phobia|lepsy|plegia|uria|rrho?ea|thyroidism|insomnia|(?:ys|dy)lexia|praxia|ystrophy|llergies|llergy)$/
const illnesses = setOf(
  'disease disorder syndrome disability intolerance deficiency cancer diabetes asthma epilepsy anxiety depression eczema migraine migraines autism dementia hypertension hernia gout lupus tinnitus vertigo acne apnea apnoea palsy parkinson alzheimer scoliosis endometriosis fibromyalgia pacemaker prosthesis implant stutter adhd ocd ptsd ibs copd hiv insomnia cholesterol reflux',
)
const bodyParts = setOf(
  'back knee knees heart hip hips shoulder shoulders ankle ankles neck wrist wrists foot feet leg legs arm arms eye eyes eyesight hearing ear ears stomach liver kidney kidneys lung lungs skin thyroid joints blood breathing sleeping walking seeing swallowing concentrating bladder spine',
)
const complaints = setOf('pain pains problem problems trouble issues condition pressure ache injury difficulty')
const ailing = setOf('bad weak sore broken injured stiff poor artificial chronic constant')

/** Adjectives of health, ability and body. */
const conditionEndings =
  /(?:betic|leptic|lexic|naemic|nemic|limic|norexic|thmatic|utistic|rthritic|phrenic|phobic|philiac|compromised|suppressed)$|-(?:blind|sighted|handed|intolerant|impaired)$/
const adjectives = setOf(
  'deaf blind mute disabled paralysed paralyzed pregnant infertile bipolar neurodivergent hypertensive obese overweight underweight housebound colourblind colorblind nearsighted farsighted left-handed right-handed sober alcoholic bald',
)
const medicineEndings =
  /(?:formin|sartan|statins?|olol|prazole|cillin|mycin|azepam|zolam|oxetine|traline|apine|lukast|glutide|thyroxine|profen|gliptin|gliflozin|depressants?|thinners|painkillers|histamines?)$/
const medicines = setOf(
  'insulin medication medicine meds chemotherapy chemo dialysis steroids lithium ritalin hormones',
)

/** Words that may follow what they explain. */
const behind = setOf('and or , in of on since from with type when after at during as because every')

const traits = setOf(
  'bilingual trilingual multilingual gay lesbian bisexual asexual transgender non-binary nonbinary queer religious introverted extroverted self-employed freelance teetotal adopted',
)
const traitNouns = setOf(
  'smoker non-smoker introvert extrovert twin mother father mum mom dad parent parents grandparent grandmother grandfather widow widower orphan veteran survivor immigrant citizen native atheist agnostic teetotaller alcoholic diabetic epileptic asthmatic insomniac haemophiliac hemophiliac coeliac celiac caregiver carer sibling donor amputee',
)
/** Nouns that say something only with a word before them: "night owl", "wheelchair user". */
const kinds = setOf('person bird owl child user')
const ordinary = setOf(
  'good bad nice terrible horrible busy different new old normal lucky happy sad dead second third',
)
const faiths = setOf(
  'muslim christian jewish hindu buddhist sikh catholic protestant orthodox atheist agnostic mormon quaker lutheran anglican baptist methodist',
)

/** Whether a word that `isNamed` ends the phrase, or a word follows that only explains it. */
const heads = (words: readonly string[], isNamed: (word: string, at: number) => boolean): boolean =>
  words.length <= maxWords &&
  words.some((word, at) => {
    const next = words[at + 1]
    return isNamed(word, at) && (next === undefined || behind.has(next))
  })

const maxWords = 10

/** Whether words name an illness, an impairment or a complaint: "type 2 diabetes", "a bad knee", "trouble sleeping". */
export const isCondition = (words: readonly string[]): boolean =>
  heads(words, (word, at) => {
    const before = words[at - 1] ?? ''
    if (illnesses.has(word) || illnessEndings.test(word)) return true
    if (complaints.has(word)) return bodyParts.has(before) || (before === 'chronic' && word === 'pain')
    return bodyParts.has(word) && (ailing.has(before) || complaints.has(before))
  })

/** Whether words say how someone's health or body is: "diabetic", "deaf in one ear", "slightly colour-blind". */
export const isAiling = (words: readonly string[]): boolean =>
  heads(words, (word, at) => at <= 2 && (adjectives.has(word) || conditionEndings.test(word)))

/** Whether words name a medicine or a treatment that lasts. */
export const isMedicine = (words: readonly string[]): boolean =>
  heads(words, (word) => medicines.has(word) || medicineEndings.test(word))

/** Whether words say what someone is, rather than how that person feels now: "bilingual", "night owl". */
export const isTrait = (words: readonly string[]): boolean =>
  heads(words, (word) => traits.has(word)) ||
  (!ordinary.has(words[0] ?? '') &&
    (kinds.has(words.length > 1 ? (words.at(-1) ?? '') : '') ||
      heads(words, (word, at) => at <= 3 && traitNouns.has(word))))

/** Whether words name a faith. */
export const isFaith = (words: readonly string[]): boolean => words.length <= 2 && faiths.has(words.at(-1) ?? '')

/** Whether words name what people fear for long, rather than an outcome that they worry about. */
export const isFear = (words: readonly string[]): boolean =>
  words.length <= 3 && !unsettled.has(words[0] ?? '') && (!words.some((word) => word.endsWith('ing')) || feared(words))

const unsettled = setOf('the this that my your our his her their it what how')
const feared = ([first = '', second]: readonly string[]): boolean =>
  second === undefined && setOf('flying driving swimming drowning dying falling lightning needles').has(first)

/** Whether a word is something that people say they never do, rather than something that fails now. */
export const isAbstained = (words: readonly string[]): boolean =>
  words.length === 1 && setOf('smoke vape drink drive cook gamble swim').has(words[0] ?? '')

/** Whether a word says how someone is related to a partner by law. */
export const isMarital = (words: readonly string[]): boolean =>
  words.length === 1 && setOf('married engaged widowed').has(words[0] ?? '')
