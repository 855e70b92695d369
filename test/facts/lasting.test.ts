import { describe, expect, it } from 'vitest'
import { exchangeFacts } from '#facts/extraction.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'

const observedAt = Date.UTC(2026, 10, 22)
const left = (user: string): readonly string[] => [
  ...new Set(
    atOnce(exchangeFacts({ user, assistant: '', observedAt }))
      .filter(({ ended }) => !ended)
      .map(({ text }) => text),
  ),
]

describe('what a message leaves', () => {
  it.each([
    ...['Never send anything to customers without asking me first', 'From now on keep replies under 100 words'],
    ...['Stop adding disclaimers at the end of every answer', 'No bullet points please, I prefer prose'],
    ...['Temperatures in Celsius please', 'Address me formally, please', 'Nothing spicy for me, ever'],
    ...["You don't need to explain Python to me, I've written it for fifteen years", 'Not a fan of loud music'],
    ...['Nobody on my team may push to production on Fridays', 'In our company we say colleagues, never employees'],
    ...['Our fiscal year starts in July', 'The stand-up moved to 10:15, every weekday', "We're a team of three"],
    ...['My deadline for the grant is 30 September', 'We are expecting twins', 'I gave up alcohol two years ago'],
    ...['My mother-in-law lives with us', 'My flat is on the fifth floor without a lift', "We don't eat pork"],
    ...['As a wheelchair user I need step-free routes', "I'm training for the Berlin marathon"],
    ...['My surname is spelled with two letters at the end', 'Everything we have runs on Debian'],
    ...["I'm lactose intolerant by the way, so no cream"],
  ])('is: %s', (text) => {
    expect(left(text)).toEqual([text])
  })

  it.each([
    ["I'm vegetarian, what should I cook for six?"],
    ['Being diabetic makes long flights tricky, what should I pack?'],
    ["I'm allergic to nuts, can I eat this?"],
  ])('is what its user says before a question: %s', (text) => {
    expect(left(text)).toEqual([text])
  })

  it.each([
    ...['Never mind that, go on', 'Always a pleasure, bye!', 'Do not change the first paragraph', 'Short answer: no.'],
    ...['Make it shorter.', 'Put the table at the top', 'Return everything as JSON', 'I hate this bug', 'I like it'],
    ...['I get a 502 every time I deploy to Vercel', 'I have a dataframe with 3 columns: a, b and c'],
    ...['Our build is failing since this morning', 'My wife is calling', 'My dog is sick', 'Everything works now'],
    ...['Draft a reminder to Herr Adler about the invoice', 'I have a meeting in 10 minutes', 'We moved it to 3pm'],
    ...[
      "I'm at the airport with 8% battery",
      "I've got a splitting headache",
      'As an example, I have a list of numbers',
    ],
    ...['The quarterly filing must be submitted by 30 April', 'All I need to do is fix my code', 'Set it to 5 minutes'],
    ...[
      'My colleague is vegan and wants a restaurant in Graz, any ideas?',
      'Does my son have asthma, or is it a cold?',
    ],
  ])('is nothing of: %s', (text) => {
    expect(left(text)).toEqual([])
  })

  it.each([
    ['a text to translate', 'Please translate: I live in Rome and I have three kids.'],
    ['a pasted mail', "Summarise this email for me:\n\nHi all, I'm Dave and I live in Bristol.\n\nI love cats."],
    ['a mail that is shown', "Here is the email I received: Hi, I'm Sam. I live in Boston."],
    ['a quotation of several sentences', 'A guest wrote "I am a regular. I live in Bonn. I hate noise." to us.'],
    ['a message that is quoted by lines', '> I live in Rome.\nWhat does that mean?'],
    ['code', '```\nI live in Rome.\n```\nWhy does this not compile?'],
    ['a play', "Let's play a game: I'm Korvath, I live in the Ashen Keep."],
    ['a supposition', 'Suppose I live in Munich. I have two kids. What do I pay?'],
    ['a part', 'Act as a recruiter. I work at Siemens as a nurse.'],
    ['mockery', "Sure, and I'm the Queen of Sheba."],
    ['a moment', 'For the next ten minutes only, call me Captain Hook.'],
    ['one answer', 'Just this once, answer in French.'],
  ])('is nothing of %s', (_, text) => {
    expect(left(text)).toEqual([])
  })

  it.each([
    ['a list about its user', "Here's a bit about me:\n- I live in Oslo", ['- I live in Oslo']],
    ['what is said behind code', '```js\nconst a = `x`\n```\nI live in Oslo.', ['I live in Oslo.']],
    ['what is before a time', 'Edit it. I live in Oslo. Dinner is at 7:30.', ['I live in Oslo.', 'Dinner is at 7:30.']],
    ['what is said between lengths', 'It is 6" wide. I live in Oslo. The other is 4" wide.', ['I live in Oslo.']],
    ['what is said behind a question', 'What if it rains? I live in Oslo.', ['I live in Oslo.']],
    ['a usual time', 'I run ten kilometres in 45 minutes.', ['I run ten kilometres in 45 minutes.']],
    ['a habit for fun', 'I play chess just for fun.', ['I play chess just for fun.']],
    ['how often', 'I eat meat only once a week.', ['I eat meat only once a week.']],
    ['an answer', "Yes, and I'm vegan.", ["Yes, and I'm vegan."]],
  ])('is %s', (_, text, expected) => {
    expect(left(text)).toEqual(expected)
  })

  it('is what its user says before a text that is given', () => {
    expect(left("I'm dyslexic. Please rewrite this:\n\nI live in Rome.")).toEqual(["I'm dyslexic."])
  })
})
