const spaced = (list: string): readonly string[] => list.trim().split(/\s+/)

/** Given names that are common in several countries and are rarely other words. */
export const givenNames: ReadonlySet<string> = new Set(
  spaced(`
    Aaron Abdul Abigail Adam Adriana Agnieszka Ahmed Aisha Alan Albert Alejandro Alessandro Alexander Alexandra Alexei
    Alfred Ali Alice Alicia Alison Amanda Amelia Amir Amit Ana Anastasia Anders Andrea Andreas Andrei Andrew Angela
    Anja Anna Anne Annette Antoine Antonio Anton Arjun Arthur Astrid Barbara Beatrice Benjamin Bernard Bernd Birgit
    Bjorn Boris Brenda Brian Bruno Camila Camille Carlos Carmen Carolina Caroline Carol Catherine Cecilia Charles
    Charlotte Chiara Chloe Christian Christina Christine Christopher Claire Claudia Clara Cynthia Daniel Daniela David
    Deborah Denise Dennis Diana Diego Dieter Dmitri Dominik Donald Donna Dorothy Edward Elena Eleanor Eduardo Elif
    Elizabeth Ella Emily Emma Enrique Erik Esther Eugene Eva Evelyn Fatima Felipe Felix Fernando Florian Francesca
    Francesco Francisco Frank Franz Frederik Friedrich Gabriel Gabriela Gary Georg George Gerald Gerhard Giorgio
    Giovanni Giulia Giuseppe Gloria Greta Guillaume Gustavo Hannah Hans Harald Harold Hassan Heather Heinz Helen Helena
    Helga Henry Hiroshi Hugo Ibrahim Ingrid Irene Isabel Isabella Ivan Jacob Jacqueline James Jana Janet Jason Javier
    Jean Jeffrey Jennifer Jens Jeremy Jessica Joan Joao Joanna Johan Johannes John Jonas Jonathan Jorge Jose Joseph
    Joshua Juan Judith Julia Julian Juliette Jurgen Jürgen Kamal Karen Karin Karl Katarzyna Kathleen Katharina Keith
    Kenneth Kevin Kimberly Klaus Krzysztof Kumar Lars Larry Laura Lauren Leila Leonardo Lena Linda Lisa Louise Luca
    Lucas Lucia Luis Lukas Magdalena Manuel Marco Marcus Margaret Maria Mariana Marie Mario Marta Martha Martin Martina
    Matteo Matthew Matthias Maximilian Megan Mehmet Mei Melissa Michael Michel Michelle Miguel Mikhail Mohamed Mohammed
    Monica Monika Muhammad Mustafa Nadia Nancy Natalia Natalie Nathalie Nathan Nicholas Nicole Nikolai Nina Noah Nora
    Olga Oliver Olivia Omar Oscar Pablo Pamela Paolo Patricia Patrick Paul Paula Paulo Pedro Peter Petra Philip
    Philippe Pierre Piotr Priya Rachel Rafael Rahul Raj Ralf Ralph Ramon Raquel Raymond Rebecca Ricardo Richard Robert
    Roberto Roger Roland Ronald Rosa Roxana Ruth Ryan Sabine Salman Samantha Samuel Sandra Sanjay Sara Sarah Sebastian
    Sergei Sergio Sharon Shirley Silvia Simon Simone Sofia Sophia Sophie Stefan Stefanie Stephanie Stephen Steven Susan
    Susanne Suresh Sven Svetlana Sylvia Takashi Tatiana Teresa Theodore Theresa Thomas Timothy Tomas Tomasz Ulrich
    Ursula Valentina Valeria Vanessa Vera Veronica Victor Victoria Vincent Vladimir Walter Wei Werner William Wolfgang
    Xavier Yasmin Yuki Yusuf Yves Zainab Zoe
  `),
)

/** Given names that are also words, months or places: they count only after a word that announces a name. */
export const doubtfulNames: ReadonlySet<string> = new Set(
  spaced(`
    Amber Angel April Art August Austin Autumn Bill Bob Brook Chance Chase Christian Crystal Dale Dawn Dean Destiny
    Drew Faith Forest Frank Georgia Grace Grant Guy Harmony Heath Hope Hunter Iris Ivy Jack Jasmine Jordan Joy June
    Kim Lily London Mark Mason Max May Melody Miles Nick Norm Olive Paris Pearl Penny Pierce Ray Reed Rich Rob Robin
    Rose Ruby Rusty Sky Stone Summer Sunny Sydney Tom Violet Virginia Wade Will Woody
  `),
)
