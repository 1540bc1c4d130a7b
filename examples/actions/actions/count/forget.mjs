console.log(`After the last step: ${process.env.STATE_words} words were counted`);
