/**
 * Made-up people for measuring extraction without a model: each relation has one phrase that states its value, and
 * other phrases with the same meaning. The other phrases were written independently of the rules and are not used to
 * tune them.
 */
export interface MadeUpRelation {
  readonly relation: string
  readonly values: readonly string[]
  readonly same: string
  readonly others: readonly string[]
}

export const singleValued: readonly MadeUpRelation[] = [
  {
    relation: 'lives_in',
    values: ['Lisbon', 'Oslo', 'Graz', 'Porto', 'Leeds', 'San Diego'],
    same: 'I live in {}.',
    others: [
      "I'm now based in {}.",
      'We relocated to {} with the kids.',
      'Just moved to {}, still unpacking boxes.',
      '{} is home for me now.',
      'I have settled in {} for good.',
    ],
  },
  {
    relation: 'works_at',
    values: ['Globex', 'Initech', 'Umbrella Labs', 'Hooli', 'Acme Robotics'],
    same: 'I work at {}.',
    others: [
      'My new employer is {}.',
      'I joined {} a few days ago.',
      "I've started a new job at {}.",
      'I got hired by {}.',
      '{} is where I work these days.',
    ],
  },
  {
    relation: 'occupation',
    values: ['nurse', 'data engineer', 'pastry chef', 'tax adviser', 'welder'],
    same: 'I work as a {}.',
    others: [
      'My job title is {} now.',
      "I'm a {} by profession.",
      'I was promoted to {}.',
      'I earn my living as a {}.',
      'These days my role is {}.',
    ],
  },
  {
    relation: 'name',
    values: ['Carol Diaz', 'Bela Nagy', 'Ines Roth', 'Milo Park'],
    same: 'My name is {}.',
    others: ["I'm called {}.", 'Please call me {}.', 'Everyone calls me {}.', 'I go by {} now.', 'The name is {}.'],
  },
  {
    relation: 'age',
    values: ['34', '35', '36', '51'],
    same: 'I am {} years old.',
    others: [
      'I just turned {}.',
      'My age is {}.',
      "I'm {} now.",
      'I celebrated my {}th birthday.',
      'I have reached the age of {}.',
    ],
  },
  {
    relation: 'partner',
    values: ['Anna', 'Tom Weber', 'Noor', 'Felix'],
    same: 'My partner is {}.',
    others: [
      "I'm married to {}.",
      'I got engaged to {}.',
      'My wife is called {}.',
      "I'm dating {}.",
      '{} and I got married.',
    ],
  },
  {
    relation: 'phone',
    values: ['+49 170 1234567', '+43 664 9876543', '555-0199-22'],
    same: 'My phone number is {}.',
    others: [
      'You can reach me at {}.',
      'My new number: {}.',
      'Call me on {}.',
      'My mobile is {} now.',
      'I have a new phone number, {}.',
    ],
  },
  {
    relation: 'email',
    values: ['a@example.com', 'b.c@example.org', 'new.me@example.net'],
    same: 'My email is {}.',
    others: [
      'You can write to me at {}.',
      'My mail address changed to {}.',
      'Please send it to my new address {}.',
      'Contact me via {}.',
      'I can be reached under {}.',
    ],
  },
  {
    relation: 'diet',
    values: ['vegan', 'vegetarian', 'pescatarian', 'keto'],
    same: 'My diet is {}.',
    others: [
      "I'm {} now.",
      'I switched to a {} diet.',
      'I went {} in spring.',
      'I only eat {}.',
      "I've been eating {} for a while.",
    ],
  },
  {
    relation: 'favourite_colour',
    values: ['green', 'teal', 'dark red', 'orange'],
    same: 'My favourite colour is {}.',
    others: [
      '{} is my favorite color.',
      'My favourite color is now {}.',
      'The colour I like most is {}.',
      'My go-to colour is {}.',
      'My favourite colour has changed to {}.',
    ],
  },
  {
    relation: 'language',
    values: ['German', 'French', 'Polish', 'Turkish'],
    same: 'My preferred language is {}.',
    others: [
      'Please answer in {}.',
      'I prefer to speak {}.',
      'My native language is {}.',
      "I'd rather chat in {}.",
      'I want replies in {}.',
    ],
  },
  {
    relation: 'timezone',
    values: ['Europe/Berlin', 'UTC+3', 'PST', 'CET'],
    same: 'My timezone is {}.',
    others: [
      "I'm in the {} time zone.",
      'My clock runs on {} time.',
      "I'm on {} time.",
      'My time zone changed to {}.',
      "I'm in {} now.",
    ],
  },
  {
    relation: 'car',
    values: ['Tesla Model 3', 'VW Golf', 'Volvo XC40', 'Fiat Panda'],
    same: 'My car is a {}.',
    others: [
      'I drive a {} now.',
      'I bought a {}.',
      'We got ourselves a new {}.',
      'I sold the old one and now own a {}.',
      'My new ride is a {}.',
    ],
  },
  {
    relation: 'doctor',
    values: ['Dr. Wong', 'Dr. Amari', 'Dr. Lind'],
    same: 'My doctor is {}.',
    others: [
      'I see {} for check-ups.',
      "I'm a patient of {}.",
      'My new GP is {}.',
      '{} is my physician.',
      'I switched to {} as my doctor.',
    ],
  },
  {
    relation: 'manager',
    values: ['Maria Lopez', 'Sven', 'Priya', 'Otto Brandt'],
    same: 'My manager is {}.',
    others: [
      'I report to {}.',
      'My boss is {} now.',
      '{} is my new supervisor.',
      '{} manages me.',
      'I have a new boss called {}.',
    ],
  },
  {
    relation: 'studies_at',
    values: ['ETH Zurich', 'Leeds University', 'MIT', 'Lund University'],
    same: 'I study at {}.',
    others: [
      'I enrolled at {}.',
      "I'm a student at {}.",
      'I attend {}.',
      'My university is {}.',
      "I've transferred to {}.",
    ],
  },
  {
    relation: 'hometown',
    values: ['Naples', 'Graz', 'Cork', 'Bergen'],
    same: 'My hometown is {}.',
    others: [
      'I grew up in {}.',
      "I'm originally from {}.",
      'I was born and raised in {}.',
      'I come from {}.',
      'My childhood was spent in {}.',
    ],
  },
]

export const severalValued: readonly MadeUpRelation[] = [
  {
    relation: 'likes',
    values: ['tea', 'jazz', 'long walks', 'old films', 'chess'],
    same: 'I like {}.',
    others: [
      "I'm really into {}.",
      'I love {}.',
      "I'm a big fan of {}.",
      "I can't get enough of {}.",
      '{} makes me happy.',
    ],
  },
  {
    relation: 'allergic_to',
    values: ['peanuts', 'penicillin', 'shellfish', 'cats', 'pollen'],
    same: "I'm allergic to {}.",
    others: [
      'I have an allergy to {}.',
      'I react badly to {}.',
      'I break out in hives when I touch {}.',
      'My allergies include {}.',
      'I suffer from a {} allergy.',
    ],
  },
  {
    relation: 'visited',
    values: ['Peru', 'Chile', 'Japan', 'New Zealand', 'Iceland'],
    same: 'I visited {}.',
    others: [
      "I've been to {}.",
      'I travelled to {} last year.',
      'We spent two weeks in {}.',
      'I went to {} for a holiday.',
      'I came back from {} yesterday.',
    ],
  },
  {
    relation: 'knows',
    values: ['Clara', 'Ben Okafor', 'Yuki', 'Lena Fuchs'],
    same: 'I know {}.',
    others: [
      'I met {} at a conference.',
      'I got to know {}.',
      "I'm acquainted with {}.",
      'I was introduced to {}.',
      '{} is someone I know.',
    ],
  },
  {
    relation: 'hobby',
    values: ['pottery', 'bouldering', 'gardening', 'archery'],
    same: 'My hobby is {}.',
    others: [
      'I took up {}.',
      'I do {} in my spare time.',
      'I spend my weekends on {}.',
      'My hobbies include {}.',
      'One of my hobbies is {}.',
    ],
  },
  {
    relation: 'speaks',
    values: ['German', 'French', 'Polish', 'Japanese'],
    same: 'I speak {}.',
    others: ["I'm fluent in {}.", "I'm learning {}.", 'I have a good command of {}.', 'I know {}.', 'I can speak {}.'],
  },
]
