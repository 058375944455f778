describe('a slow file with good tests', () => {
  it('passes', (done) => {
    setTimeout(done, 300);
  });
});
