package dev.rackcall.spring;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcService;
import java.lang.annotation.Annotation;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.annotation.QualifierAnnotationAutowireCandidateResolver;
import org.springframework.beans.factory.config.BeanDefinitionHolder;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.DependencyDescriptor;
import org.springframework.beans.factory.support.AutowireCandidateResolver;
import org.springframework.context.annotation.ContextAnnotationAutowireCandidateResolver;

/**
 * Gives fields and parameters with {@link RpcClient} their stubs, as Spring gives those with {@code @Value} their values.
 * The resolver that the context had before, Spring's own or another library's, answers for all others. This one is of
 * Spring's class because Spring replaces a resolver of another class whenever a library registers annotated classes.
 */
final class ClientResolver extends ContextAnnotationAutowireCandidateResolver {
    private final AutowireCandidateResolver others;

    /** @param others the context's resolver */
    ClientResolver(AutowireCandidateResolver others) {
        this.others = others;
    }

    @Override
    public void setBeanFactory(BeanFactory beans) {
        super.setBeanFactory(beans);
        if (others instanceof BeanFactoryAware aware) {
            aware.setBeanFactory(beans);
        }
    }

    // Spring changes the context's resolver by these two.

    @Override
    public void addQualifierType(Class<? extends Annotation> type) {
        if (others instanceof QualifierAnnotationAutowireCandidateResolver springs) {
            springs.addQualifierType(type);
        }
    }

    @Override
    public void setValueAnnotationType(Class<? extends Annotation> type) {
        if (others instanceof QualifierAnnotationAutowireCandidateResolver springs) {
            springs.setValueAnnotationType(type);
        }
    }

    @Override
    public Object getSuggestedValue(DependencyDescriptor dependency) {
        RpcClient client = dependency.getAnnotation(RpcClient.class);
        return client == null ? others.getSuggestedValue(dependency) : client(client, dependency);
    }

    @Override
    public boolean isAutowireCandidate(BeanDefinitionHolder bean, DependencyDescriptor dependency) {
        return others.isAutowireCandidate(bean, dependency);
    }

    @Override
    public boolean isRequired(DependencyDescriptor dependency) {
        return others.isRequired(dependency);
    }

    @Override
    public boolean hasQualifier(DependencyDescriptor dependency) {
        return others.hasQualifier(dependency);
    }

    @Override
    public String getSuggestedName(DependencyDescriptor dependency) {
        return others.getSuggestedName(dependency);
    }

    @Override
    public Object getLazyResolutionProxyIfNecessary(DependencyDescriptor dependency, String bean) {
        return others.getLazyResolutionProxyIfNecessary(dependency, bean);
    }

    @Override
    public Class<?> getLazyResolutionProxyClass(DependencyDescriptor dependency, String bean) {
        return others.getLazyResolutionProxyClass(dependency, bean);
    }

    @Override
    public AutowireCandidateResolver cloneIfNecessary() {
        return new ClientResolver(others.cloneIfNecessary());
    }

    private Object client(RpcClient client, DependencyDescriptor dependency) {
        ConfigurableBeanFactory beans = (ConfigurableBeanFactory) getBeanFactory();
        RackcallChannels channels = beans.getBean(RackcallChannels.class);
        Class<?> type = dependency.getDependencyType();
        String name = beans.resolveEmbeddedValue(client.value());
        if (type == RpcChannel.class && !name.isEmpty()) {
            return channels.channel(name);
        }
        RpcService service = type.getAnnotation(RpcService.class);
        if (service == null) {
            throw new IllegalStateException(
                    dependency.getMember() + ": @RpcClient is for interfaces with @RpcService, and with a"
                            + " channel's name for RpcChannel, not for " + type.getName());
        }
        return channels.channel(name.isEmpty() ? service.value() : name).stub(type);
    }
}
