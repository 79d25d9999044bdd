import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Prints one line for each pattern: 1 or 0 for each sample, or the reason why the pattern does not compile. */
public class CompilePatterns {
    public static void main(String[] arguments) throws Exception {
        List<String> lines = Files.readAllLines(Path.of(arguments[0]));
        List<String> samples = decode(lines.get(1));
        for (String text : decode(lines.get(0))) {
            try {
                Pattern pattern = Pattern.compile(text);
                StringBuilder matches = new StringBuilder();
                for (String sample : samples) matches.append(pattern.matcher(sample).find() ? '1' : '0');
                System.out.println(matches);
            } catch (PatternSyntaxException error) {
                System.out.println(error.getMessage().replace('\n', ' '));
            }
        }
    }

    private static List<String> decode(String line) {
        return Arrays.stream(line.split(" ")).map(word -> new String(Base64.getDecoder().decode(word), StandardCharsets.UTF_8)).toList();
    }
}
